// A new task: a form made from the kind's JSON schema, the price before ordering, one key per order.

import { explain } from "./app.js";
import { ask, get, insist, newKey, Problem, send, Unreachable } from "./api.js";
import { busy, fill, h, notice } from "./dom.js";
import { bytes, named, number, t } from "./texts.js";

const PENDING = "tallyreel.order"; // an order whose answer is not known, with its key
const QUOTE_AFTER_MS = 250;

export const pending = () => JSON.parse(sessionStorage.getItem(PENDING) ?? "null");

// Orders, under a key that is kept until the answer is known, so that no repeat is a second order.
export async function place(body, onWait, known = null) {
  const order = known ?? (await open(body, onWait));
  sessionStorage.setItem(PENDING, JSON.stringify(order));
  try {
    const made = await insist("POST", "v1/tasks", { body: order.body, key: order.key }, onWait);
    sessionStorage.removeItem(PENDING);
    return made.body;
  } catch (trouble) {
    if (trouble instanceof Problem) sessionStorage.removeItem(PENDING);
    throw trouble;
  }
}

// A repeat of the order whose answer is missing is that order; another one has to wait for it.
async function open(body, onWait) {
  const before = pending();
  if (before && JSON.stringify(before.body) === JSON.stringify(body)) return before;
  if (before) {
    await place(null, onWait, before).catch((trouble) => {
      if (!(trouble instanceof Problem)) throw trouble;
    });
  }
  return { key: newKey(), body };
}

export function show(main, [kindName]) {
  let live = true;
  const body = h("div", { class: "stack" }, h("p", { class: "quiet" }, t("loading")));
  fill(main, h("h1", { tabindex: "-1" }, t("new.title")), body);
  Promise.all([get("v1/kinds"), get("v1/credits")])
    .then(([{ kinds }, credits]) => {
      if (!live) return;
      const kind = kinds.find((each) => each.name === kindName) ?? kinds[0];
      const picks = kinds.length > 1 && h("nav", { class: "tabs", "aria-label": t("new.kinds") }, kinds.map((each) =>
        h("a", { href: `#/new/${each.name}`, "aria-current": each === kind ? "page" : null }, titleOf(each))));
      fill(body, unconfirmed(), picks, form(kind, credits));
    })
    .catch((trouble) => fill(body, notice("bad", explain(trouble))));
  return () => (live = false);
}

export const titleOf = (kind) => named("kind", kind.name, kind.title);

function unconfirmed() {
  const order = pending();
  if (!order) return null;
  const told = h("div");
  const go = h("button", { type: "button" }, t("order.confirm"));
  go.addEventListener("click", busy(go, async () => {
    try {
      const made = await place(null, () => {}, order);
      location.hash = `#/tasks/${made.id}`;
    } catch (trouble) {
      fill(told, refusal(trouble));
    }
  }));
  return h("section", { class: "notice warn" }, h("p", {}, t("order.unconfirmed")), go, told);
}

// --- the form -------------------------------------------------------------------------------------

function form(kind, credits) {
  const draft = draftOf(kind.name);
  const state = { kind, file: null, upload: draft.upload ?? null, credits };
  const price = h("p", { id: "price", class: "price", "aria-live": "polite" }, kind.price);
  const told = h("div");
  const go = h("button", { type: "submit", class: "big", "aria-describedby": "price" }, t("new.order"));
  const progress = h("progress", { max: 1, value: 0, hidden: true, "aria-label": t("new.uploading") });
  const made = h("form", { class: "card" }, source(state, told), fields(kind, draft), price, progress, go, told);
  const wanted = () => inputOf(kind, made);
  let timer = 0;
  const changed = () => {
    keepDraft(kind.name, { values: Object.fromEntries(texts(made)), upload: state.upload });
    clearTimeout(timer);
    price.classList.add("stale");
    timer = setTimeout(() => quote(price, kind, wanted(), credits), QUOTE_AFTER_MS);
  };
  made.addEventListener("input", changed);
  made.addEventListener("submit", busy(go, () => submit(state, wanted(), { told, progress, changed })));
  quote(price, kind, wanted(), credits);
  return made;
}

const texts = (made) => [...new FormData(made)].filter(([, value]) => typeof value === "string");

let quoted = 0; // only the newest question's answer counts

async function quote(price, kind, wanted, credits) {
  const turn = ++quoted;
  try {
    const { body } = await ask("POST", "v1/quotes", { body: { kind: kind.name, ...wanted } });
    if (turn !== quoted) return;
    const enough = body.price <= credits.available;
    price.className = enough ? "price" : "price short";
    fill(price,
      h("strong", {}, t("credits.count", { count: number(body.price) })),
      ` ${t(enough ? "new.price" : "new.short", { available: number(credits.available) })}`);
  } catch {
    if (turn !== quoted) return;
    price.className = "price";
    fill(price, kind.price);
  }
}

async function submit(state, wanted, { told, progress, changed }) {
  fill(told);
  if (!state.file && !state.upload) {
    fill(told, notice("bad", t("new.nofile")));
    document.getElementById("file").focus();
    return;
  }
  try {
    if (!state.upload) {
      const type = { kind: state.kind.name, content_type: typeOf(state.file) };
      const slot = (await insist("POST", "v1/uploads", { body: type })).body;
      progress.hidden = false;
      await send(slot, state.file, (part) => (progress.value = part));
      state.upload = { id: slot.upload, name: state.file.name };
      changed();
    }
    const body = { kind: state.kind.name, ...wanted, input: { source: state.upload.id, ...wanted.input } };
    const made = await place(body, () => fill(told, notice("warn", t("order.repeating"))));
    forgetDraft(state.kind.name);
    location.hash = `#/tasks/${made.id}`;
  } catch (trouble) {
    if (trouble.body?.errors?.some((each) => each.code === "source-missing")) state.upload = null;
    fill(told, refusal(trouble));
  } finally {
    progress.hidden = true;
  }
}

export function refusal(trouble) {
  if (trouble instanceof Unreachable) return notice("bad", t(pending() ? "order.unknown" : "trouble.unreachable.plain"));
  const busyWith = trouble.code === "resource-busy" && trouble.body.task;
  const link = busyWith && h("a", { href: `#/tasks/${busyWith.split("/").pop()}` }, t("order.follow"));
  return notice("bad", h("p", {}, explain(trouble)), link);
}

// --- the source: chosen, or dropped ---------------------------------------------------------------

function source(state, told) {
  const { kind } = state;
  const chosen = h("span", { class: "chosen" }, state.upload ? t("new.uploaded", { name: state.upload.name }) : "");
  const picture = h("img", { class: "preview", alt: "", hidden: true });
  const file = h("input", { id: "file", type: "file", accept: kind.content_types.join(","), "aria-describedby": "file-hint" });
  const take = (given) => {
    fill(told);
    if (!given) return;
    if (!kind.content_types.includes(typeOf(given))) return fill(told, notice("bad", t("new.type", { types: kinds(kind) })));
    if (given.size > kind.bytes_max) return fill(told, notice("bad", t("new.size", { size: bytes(kind.bytes_max) })));
    [state.file, state.upload] = [given, null];
    fill(chosen, `${given.name} · ${bytes(given.size)}`);
    if (picture.src) URL.revokeObjectURL(picture.src);
    picture.hidden = !given.type.startsWith("image/");
    if (!picture.hidden) picture.src = URL.createObjectURL(given);
    return null;
  };
  file.addEventListener("change", () => take(file.files[0]));
  const area = h("div", { class: "drop" }, picture,
    h("label", { for: "file" }, t("new.file")), file, chosen,
    h("p", { id: "file-hint", class: "quiet" }, t("new.hint", { types: kinds(kind), size: bytes(kind.bytes_max) })));
  const over = (on) => (event) => {
    event.preventDefault();
    area.classList.toggle("over", on);
  };
  area.addEventListener("dragover", over(true));
  area.addEventListener("dragleave", over(false));
  area.addEventListener("drop", (event) => {
    over(false)(event);
    take(event.dataTransfer.files[0]);
  });
  return area;
}

// Browsers do not know every type, nor call each by the same name.
const BY_NAME = { json: "application/json", gz: "application/gzip", webp: "image/webp", mp4: "video/mp4" };
const typeOf = (file) =>
  file.type === "application/x-gzip" ? "application/gzip" : file.type || BY_NAME[file.name.split(".").pop().toLowerCase()];

const kinds = (kind) => kind.content_types.map((each) => each.split("/").pop().toUpperCase()).join(", ");

// --- fields from the schema -----------------------------------------------------------------------

const resolved = (schema, root) => {
  if (schema.$ref) return { ...root.$defs[schema.$ref.split("/").pop()], ...schema, $ref: undefined };
  const real = schema.anyOf?.find((each) => each.type !== "null");
  return real ? { ...resolved(real, root), ...schema, anyOf: undefined } : schema;
};

const properties = (kind) =>
  Object.entries(kind.input.properties)
    .filter(([name]) => name !== "source")
    .map(([name, schema]) => [name, resolved(schema, kind.input)]);

function fields(kind, draft) {
  const made = properties(kind).map(([name, schema]) => oneField(kind, name, schema, draft.values?.[name]));
  if (kind.providers.length > 1) {
    made.push(oneField(kind, "provider", { enum: kind.providers, default: kind.providers[0] }, draft.values?.provider));
  }
  return h("div", { class: "fields" }, made);
}

function oneField(kind, name, schema, kept) {
  const id = `field-${name}`;
  const value = kept ?? schema.default ?? "";
  const required = kind.input.required?.includes(name) && schema.type !== "boolean";
  const about = { id, name, required };
  let input;
  if (schema.enum) {
    input = h("select", about, schema.enum.map((each) =>
      h("option", { value: each, selected: String(each) === String(value) }, named(`option.${name}`, each, String(each)))));
  } else if (schema.type === "boolean") {
    input = h("input", { ...about, type: "checkbox", value: "true", checked: value === true || value === "true" });
  } else if (schema.type === "integer" || schema.type === "number") {
    const step = schema.type === "integer" ? 1 : "any";
    input = h("input", { ...about, type: "number", min: schema.minimum, max: schema.maximum, step, value, inputmode: "numeric" });
  } else if (schema.type === "string") {
    const long = (schema.maxLength ?? 0) > 100;
    input = h(long ? "textarea" : "input", { ...about, maxlength: schema.maxLength, pattern: long ? null : schema.pattern, rows: long ? 3 : null, value });
  } else {
    input = h("textarea", { ...about, rows: 3, "data-json": true, value: value === "" ? "" : JSON.stringify(value) });
  }
  const help = named("help", name, schema.description ?? "");
  if (help) input.setAttribute("aria-describedby", `${id}-help`);
  return h("div", { class: schema.type === "boolean" ? "field check" : "field" },
    h("label", { for: id }, named("field", name, schema.title ?? name)),
    input,
    help && h("p", { id: `${id}-help`, class: "quiet" }, help));
}

function inputOf(kind, made) {
  const given = new FormData(made);
  const input = {};
  for (const [name, schema] of properties(kind)) {
    const text = given.get(name);
    if (schema.type === "boolean") input[name] = text === "true";
    else if (text === null || text === "") continue;
    else if (schema.type === "integer" || schema.type === "number") input[name] = Number(text);
    else if (schema.type === "string" || schema.enum) input[name] = text;
    else input[name] = parsed(text);
  }
  const provider = given.get("provider");
  return provider ? { input, provider } : { input };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text; // the service says what is wrong with it
  }
}

// --- what was typed so far outlives a reload ------------------------------------------------------

const draftKey = (name) => `tallyreel.draft.${name}`;
const draftOf = (name) => JSON.parse(sessionStorage.getItem(draftKey(name)) ?? "{}");
const keepDraft = (name, draft) => sessionStorage.setItem(draftKey(name), JSON.stringify(draft));
const forgetDraft = (name) => sessionStorage.removeItem(draftKey(name));
