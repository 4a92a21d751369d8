// For operators: what is stuck, why, and starting it anew; calls that were not understood; the books.

import { explain } from "./app.js";
import { get, insist, newKey, Problem } from "./api.js";
import { busy, fill, h, notice } from "./dom.js";
import { sure } from "./task.js";
import { named, number, span, t, time } from "./texts.js";

const PAGE = 100;

export function show(main) {
  const parts = { health, dead, hooks, audit, spend, grant };
  fill(main, h("h1", { tabindex: "-1" }, t("operators.title")));
  for (const [name, load] of Object.entries(parts)) {
    const body = h("div", { class: "stack" }, h("p", { class: "quiet" }, t("loading")));
    main.append(h("section", { class: "card", "aria-labelledby": `op-${name}` }, h("h2", { id: `op-${name}` }, t(`operators.${name}`)), body));
    refresh(body, load);
  }
}

// Loads one part; a part that cannot be loaded says so and leaves the others alone.
async function refresh(body, load, said = null) {
  try {
    fill(body, said, await load((again) => refresh(body, load, again)));
  } catch (trouble) {
    fill(body, notice("bad", explain(trouble)));
  }
}

function act(label, work, more = {}) {
  const told = h("span");
  const button = h("button", { type: "button", ...more }, label);
  button.addEventListener("click", busy(button, async () => {
    try {
      await work();
    } catch (trouble) {
      fill(told, notice("bad", explain(trouble)));
    }
  }));
  return [button, told];
}

async function health() {
  const found = await get("v1/admin/health");
  const count = (value) => (value >= found.capped_at ? `${number(found.capped_at)}+` : number(value));
  const paces = (found.paces ?? []).filter((each) => each.samples).map((each) => ({
    ...each,
    kind: named("kind", each.kind),
    p50: each.p50 === null ? "–" : span(each.p50),
    p99: each.p99 === null ? "–" : span(each.p99),
    window: span(each.window),
  }));
  return [
    h("dl", { class: "tiles" }, ["overdue", "dead"].map((name) =>
      h("div", { class: found[name] ? "tile bad" : "tile" }, h("dt", {}, t(`health.${name}`)), h("dd", {}, count(found[name]))))),
    paces.length > 0 && table("health", ["kind", "provider", "samples", "p50", "p99", "window"], paces),
  ];
}

// --- dead tasks, by what they died of -------------------------------------------------------------

async function dead(again) {
  const page = await get(`v1/admin/tasks?state=dead&limit=${PAGE}`);
  if (!page.tasks.length) return h("p", { class: "quiet" }, t("dead.none"));
  const groups = Map.groupBy(page.tasks, ({ task }) => task.error?.code ?? task.state);
  return [
    page.cursor && h("p", { class: "quiet" }, t("dead.first", { count: PAGE })),
    [...groups].sort(([, a], [, b]) => b.length - a.length).map(([code, found]) => group(code, found, again)),
  ];
}

function group(code, found, again) {
  const all = async () => {
    if (!(await sure(t("dead.sure", { count: found.length, code }), t("dead.redrive")))) return;
    const { body } = await insist("POST", "v1/admin/redrive", { body: { limit: PAGE, code } });
    const outcomes = [...Map.groupBy(body.tasks, (each) => each.outcome)];
    again(notice("good", outcomes.map(([outcome, list]) => `${named("outcome", outcome)}: ${list.length}`).join(" · ") || t("dead.none")));
  };
  return h("details", { id: `dead-${code}`, class: "group" },
    h("summary", {}, h("strong", {}, named("error", code, code)), ` · ${number(found.length)}`),
    h("p", { class: "quiet" }, found[0].task.error?.reason),
    act(t("dead.all", { count: found.length }), all),
    h("ul", { class: "list" }, found.map((each) => one(each, again))));
}

function one({ account, task }, again) {
  const redrive = async () => {
    await insist("POST", `v1/admin/tasks/${account}/${task.id}/redrive`, {});
    again(notice("good", `${named("outcome", "redriven")}: 1`));
  };
  const steps = task.timeline.map((step) => `${time(step.at)}  ${t(`state.${step.state}`)}  ${step.attempt}  ${step.reason}`);
  return h("li", {},
    h("details", { id: `task-${task.id}` },
      h("summary", {}, h("code", {}, task.id), h("span", { class: "quiet" }, ` ${account} · ${named("kind", task.kind)} · ${time(task.created_at)}`)),
      h("pre", { tabindex: "0" }, steps.join("\n")),
      act(t("dead.redrive"), redrive, { class: "quiet", "aria-label": `${t("dead.redrive")} ${task.id}` })));
}

// --- calls, books, money --------------------------------------------------------------------------

async function hooks(again) {
  const { parked } = await get("v1/admin/hooks");
  if (!parked.length) return h("p", { class: "quiet" }, t("hooks.none"));
  const replay = async () => {
    const { body } = await insist("POST", "v1/admin/hooks/replay", {});
    again(notice(body.parked ? "warn" : "good", t("hooks.replayed", body)));
  };
  return [
    h("p", {}, t("hooks.parked", { count: number(parked.length) })),
    act(t("hooks.replay"), replay),
    h("ul", { class: "names" }, parked.map(({ name }) => h("li", {}, h("code", {}, name)))),
  ];
}

async function audit() {
  let report;
  try {
    report = await get("v1/admin/audit");
  } catch (trouble) {
    if (trouble instanceof Problem && trouble.status === 404) return h("p", { class: "quiet" }, t("audit.none"));
    throw trouble;
  }
  const read = ["accounts", "tasks", "entries"].map((name) => `${number(report[name])} ${t(`audit.${name}`)}`);
  return [
    report.finished_at
      ? notice(report.found ? "bad" : "good", t(report.found ? "audit.found" : "audit.clean", { count: number(report.found) }))
      : notice("warn", t("audit.running")),
    h("p", { class: "quiet" }, `${time(report.finished_at ?? report.started_at)} · ${read.join(" · ")}`, report.skipped > 0 && ` · ${t("audit.skipped", { count: report.skipped })}`),
    report.differences.length > 0 && table("audit", ["code", "account", "subject", "detail"], report.differences),
  ];
}

async function spend() {
  let report;
  try {
    report = await get("v1/admin/spend");
  } catch (trouble) {
    if (trouble instanceof Problem && trouble.status === 404) return h("p", { class: "quiet" }, t("spend.none"));
    throw trouble;
  }
  if (!report.lines.length) return h("p", { class: "quiet" }, t("spend.none"));
  return table("spend", ["day", "provider", "attempts", "charged", "possible", "free", "units", "settled"], report.lines);
}

function table(part, names, rows) {
  const shown = (value) => (typeof value === "number" ? number(value) : value);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${t(`operators.${part}`)}: ${t("table")}` },
    h("table", {},
      h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, t(`column.${name}`))))),
      h("tbody", {}, rows.map((row) => h("tr", {}, names.map((name) => h("td", { class: typeof row[name] === "number" ? "amount" : "" }, shown(row[name]))))))));
}

async function grant(again) {
  const field = (name, more) => h("div", { class: "field" }, h("label", { for: `grant-${name}` }, t(`grant.${name}`)), h("input", { id: `grant-${name}`, name, ...more }));
  const told = h("div");
  const go = h("button", { type: "submit" }, t("grant.go"));
  const form = h("form", { class: "fields" },
    field("account", { required: true, pattern: "[A-Za-z0-9_\\-]{1,64}", autocomplete: "off" }),
    field("amount", { required: true, type: "number", min: 1, step: 1 }),
    field("note", { maxlength: 200 }),
    go, told);
  let key = newKey(); // the same until the fields change, so that a repeat grants nothing more
  form.addEventListener("input", () => (key = newKey()));
  form.addEventListener("submit", busy(go, async () => {
    const given = Object.fromEntries(new FormData(form));
    const body = { amount: Number(given.amount), note: given.note || null };
    try {
      await insist("POST", `v1/admin/accounts/${encodeURIComponent(given.account)}/credits`, { body, key });
      again(notice("good", t("grant.done", { account: given.account, count: number(body.amount) })));
    } catch (trouble) {
      fill(told, notice("bad", explain(trouble)));
    }
  }));
  return form;
}
