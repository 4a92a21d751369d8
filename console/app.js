// The page's frame: signing in, moving between pages, saying what went wrong.

import { ask, Problem, SignedOut, Unreachable } from "./api.js";
import { busy, fill, h, notice } from "./dom.js";
import * as session from "./session.js";
import { knows, named, other, speak, t } from "./texts.js";

const PAGES = {
  new: () => import("./order.js"),
  tasks: () => import("./tasks.js"),
  task: () => import("./task.js"),
  credits: () => import("./credits.js"),
  operators: () => import("./operators.js"),
};
const main = h("main", { id: "main", tabindex: "-1" });
const header = h("header", { class: "top" });
let config = null;
let leave = null; // stops what the page that is shown has going
let shown = 0;

export function explain(trouble) {
  if (trouble instanceof Unreachable) return t("trouble.unreachable");
  if (!(trouble instanceof Problem)) return t("trouble.unknown");
  const faults = trouble.body.errors?.map((each) => `${each.pointer}: ${each.detail}`).join(" ");
  const known = knows(`problem.${trouble.code}`) ? t(`problem.${trouble.code}`, trouble.body) : trouble.message;
  return faults ? `${known} ${faults}` : known;
}

const place = () => location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);

async function show() {
  leave?.();
  leave = null;
  const turn = ++shown;
  const [name, ...rest] = place();
  drawHeader(name);
  if (!session.signedIn()) return drawSignIn();
  const page = name === "tasks" && rest[0] ? "task" : name in PAGES ? name : "tasks";
  if (page === "operators" && !session.isOperator()) return drawMissing();
  const module = await PAGES[page]();
  if (turn !== shown) return;
  fill(main);
  leave = module.show(main, rest) ?? null;
  document.title = `${main.querySelector("h1")?.textContent ?? "Tallyreel"} · Tallyreel`;
  if (turn > 1) (main.querySelector("h1") ?? main).focus();
}

function drawMissing() {
  fill(main, h("h1", { tabindex: "-1" }, t("missing.title")), h("p", {}, t("missing.text")));
}

function drawHeader(current) {
  const link = (page) =>
    h("a", { href: `#/${page}`, "aria-current": page === (current || "tasks") ? "page" : null }, t(`nav.${page}`));
  const pages = ["new", "tasks", "credits", ...(session.isOperator() ? ["operators"] : [])];
  const language = h("button", { class: "quiet", type: "button", lang: other() === "zh" ? "zh-Hans" : "en", onclick: async () => {
    await speak(other());
    show();
  } }, t("nav.language"));
  fill(
    header,
    h("button", { class: "skip", type: "button", onclick: () => main.focus() }, t("nav.skip")),
    h("a", { class: "brand", href: "#/tasks" }, h("img", { src: new URL("./icon.svg", import.meta.url).href, alt: "", width: 28, height: 28 }), "Tallyreel"),
    session.signedIn() && h("nav", { "aria-label": t("nav.label") }, pages.map(link)),
    h("div", { class: "corner" },
      language,
      session.signedIn() && h("button", { class: "quiet", type: "button", onclick: () => session.signOut() }, t("nav.out"))),
  );
}

// --- signing in -----------------------------------------------------------------------------------

function field(id, label, more) {
  return [h("label", { for: id }, label), h("input", { id, name: id, required: true, ...more })];
}

function drawSignIn(said = null, step = null) {
  const told = h("div", {}, said);
  const form = h("form", { class: "card narrow" });
  if (!session.byPassword()) {
    const go = h("button", { type: "submit" }, t("signin.redirect"));
    form.append(h("p", {}, t("signin.elsewhere")), go);
    form.addEventListener("submit", busy(go, () => session.toIssuer().catch((trouble) => fill(told, refused(trouble)))));
  } else {
    const go = h("button", { type: "submit" }, step ? t("signin.continue") : t("signin.go"));
    form.append(...(step ? questions(step) : [
      ...field("email", t("signin.email"), { type: "email", autocomplete: "username" }),
      ...field("password", t("signin.password"), { type: "password", autocomplete: "current-password" }),
    ]), go);
    form.addEventListener("submit", busy(go, () => enter(form, step, told)));
  }
  fill(
    main,
    h("h1", { tabindex: "-1" }, t("signin.title")),
    h("p", { class: "lead" }, t("signin.lead")),
    form,
    told,
  );
  document.title = `${t("signin.title")} · Tallyreel`;
  if (step || said) form.querySelector("input")?.focus();
}

function questions(step) {
  if (step.challenge === "SOFTWARE_TOKEN_MFA") {
    return field("code", t("signin.code"), { inputmode: "numeric", autocomplete: "one-time-code", pattern: "[0-9]{6}" });
  }
  return [
    h("p", {}, t("signin.renew")),
    ...field("password", t("signin.newpassword"), { type: "password", autocomplete: "new-password", minlength: 12 }),
  ];
}

async function enter(form, step, told) {
  const given = Object.fromEntries(new FormData(form));
  fill(told);
  try {
    const next = step
      ? await session.respond(step, given.code ?? given.password)
      : await session.withPassword(given.email, given.password);
    if (next) drawSignIn(null, next);
    else show();
  } catch (trouble) {
    fill(told, refused(trouble));
  }
}

function refused(trouble) {
  if (!(trouble instanceof session.SignInRefused)) return notice("bad", t("trouble.unreachable.plain"));
  return notice("bad", named("signin.error", trouble.code, t("signin.error", { why: trouble.message })));
}

// --- beginning ------------------------------------------------------------------------------------

async function begin() {
  document.body.prepend(header, main, h("div", { id: "toast", "aria-live": "polite" }));
  await speak();
  try {
    config = (await ask("GET", "v1/config")).body;
  } catch {
    fill(main, h("h1", {}, "Tallyreel"), notice("bad", t("trouble.unreachable.plain")),
      h("button", { type: "button", onclick: () => location.reload() }, t("again")));
    return;
  }
  session.begin(config, (expired) => {
    if (!expired) sessionStorage.clear();
    show().then(() => expired && drawSignIn(notice("warn", t("signin.expired"))));
  });
  let said = null;
  await session.fromIssuer().catch((trouble) => (said = refused(trouble)));
  addEventListener("hashchange", show);
  addEventListener("unhandledrejection", (event) => event.reason instanceof SignedOut && event.preventDefault());
  await show();
  if (said) drawSignIn(said);
}

begin();
