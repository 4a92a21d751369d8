// A new task: a form made from the kind's JSON schema, the price before ordering, one key per order.

import { explain } from "./app.js";
import { ask, get, insist, newKey, Problem, send, Stopped, Unreachable } from "./api.js";
import { busy, fill, h, notice } from "./dom.js";
import { bytes, knows, language, named, nameOfLanguage, number, t } from "./texts.js";

const PENDING = "tallyreel.order"; // an order whose answer is not known, with its key
const QUOTE_AFTER_MS = 250;
const LANGUAGES = ["en", "zh", "zh-Hant", "es", "hi", "ar", "pt", "fr", "de", "ja", "ko", "ru", "it", "id", "tr", "vi", "th", "pl", "nl", "uk", "sv"];

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
  let made = null;
  const body = h("div", { class: "stack" }, h("p", { class: "quiet" }, t("loading")));
  fill(main, h("h1", { tabindex: "-1" }, t("new.title")), body);
  Promise.all([get("v1/kinds"), get("v1/credits")])
    .then(([{ kinds }, credits]) => {
      if (!live) return;
      const kind = kinds.find((each) => each.name === kindName) ?? kinds[0];
      const picks = kinds.length > 1 && h("nav", { class: "tabs", "aria-label": t("new.kinds") }, kinds.map((each) =>
        h("a", { href: `#/new/${each.name}`, "aria-current": each === kind ? "page" : null }, titleOf(each))));
      made = form(kind, credits);
      fill(body, unconfirmed(), picks, made.element);
    })
    .catch((trouble) => fill(body, notice("bad", explain(trouble))));
  return () => {
    live = false;
    made?.leave();
  };
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
  const state = { kind, credits, file: null, upload: draft.upload ?? null, sending: null, typing: false, agreed: null, rate: null, timer: 0, ordering: false, stop: () => {} };
  const price = h("p", { id: "price", class: "price", "aria-live": "polite" }, kind.price);
  const told = h("div");
  const go = h("button", { type: "submit", class: "big", "aria-describedby": "price" }, t("new.order"));
  const progress = h("progress", { max: 1, value: 0, hidden: true, "aria-label": t("new.uploading") });
  const maker = h("div", { class: "quiet" });
  const made = h("form", { class: "card" });
  const page = { made, price, told, progress };
  const changed = () => {
    keepDraft(kind.name, { values: Object.fromEntries(texts(made)), upload: state.upload });
    fill(maker, about(kind, inputOf(kind, made).provider));
    clearTimeout(state.timer);
    price.classList.add("stale");
    state.timer = setTimeout(() => quote(state, page), QUOTE_AFTER_MS);
  };
  // What is priced by its source is uploaded as soon as it is chosen, so that the price is known.
  const chosen = () => {
    changed();
    if (kind.sized) uploaded(state, page).then(changed).catch((trouble) => trouble instanceof Stopped || fill(told, refusal(trouble)));
  };
  fill(made, source(state, page, { chosen, changed, address: draft.values?.url }), fields(kind, draft), maker, price, progress, go, told);
  fill(maker, about(kind, inputOf(kind, made).provider));
  made.addEventListener("input", changed);
  made.addEventListener("submit", busy(go, () => {
    state.ordering = true;
    return submit(state, page, changed).finally(() => (state.ordering = false));
  }));
  quote(state, page);
  const leave = () => {
    clearTimeout(state.timer);
    if (!state.ordering) state.stop(); // who pressed Order gets the task
  };
  return { element: made, leave };
}

const texts = (made) => [...new FormData(made)].filter(([, value]) => typeof value === "string");

// What a buyer should know of who makes it.
const about = (kind, provider) => named("about", `${kind.name}.${provider ?? kind.providers[0]}`, "");

// --- what it costs --------------------------------------------------------------------------------

let quoted = 0; // only the newest question's answer counts

// The order as it would be sent; null while what it is about is not there yet.
function orderOf(state, made) {
  const wanted = inputOf(state.kind, made);
  const { url, ...input } = wanted.input;
  const from = url ? { url } : state.upload && { source: state.upload.id };
  return from && { kind: state.kind.name, ...wanted, input: { ...from, ...input } };
}

async function quote(state, { made, price, told }) {
  const turn = ++quoted;
  const { kind, credits } = state;
  const { url, ...input } = inputOf(kind, made).input;
  const ready = kind.sized && !state.typing && orderOf(state, made);
  const body = ready || { kind: kind.name, ...inputOf(kind, made), input };
  if (ready) fill(price, t("new.measuring"));
  try {
    const found = (await ask("POST", "v1/quotes", { body })).body;
    if (turn !== quoted) return;
    const exact = ready || !kind.sized;
    state.rate = exact ? state.rate : found;
    const enough = found.price <= credits.available;
    price.className = enough ? "price" : "price short";
    state.agreed = ready && { body: JSON.stringify(ready), price: found.price };
    if (ready) fill(told);
    fill(price, exact ? costs(kind, found, enough, credits) : rate(kind, found, credits));
  } catch (trouble) {
    if (turn !== quoted) return;
    price.className = "price";
    state.agreed = null;
    fill(price, state.rate ? rate(kind, state.rate, credits) : kind.price);
    if (!ready) return;
    if (trouble instanceof Problem) missing(state, trouble);
    fill(told, refusal(trouble));
  }
}

const costs = (kind, found, enough, credits) => [
  h("strong", {}, t("credits.count", { count: number(found.price) })),
  kind.sized && knows(`units.${kind.name}`) && ` ${t(`units.${kind.name}`, { count: number(found.units) })}`,
  ` ${t(enough ? "new.price" : "new.short", { available: number(credits.available) })}`,
];

const rate = (kind, found, credits) => [
  h("strong", {}, knows(`rate.${kind.name}`) ? t(`rate.${kind.name}`, { count: number(found.unit_price) }) : kind.price),
  ` ${t("new.rate", { available: number(credits.available) })}`,
];

// An upload that is not there any more has to be chosen anew.
function missing(state, trouble) {
  if (!trouble.body?.errors?.some((each) => each.code === "source-missing")) return;
  state.upload = null;
  keepDraft(state.kind.name, { ...draftOf(state.kind.name), upload: null });
}

// --- ordering -------------------------------------------------------------------------------------

// Uploads what was chosen. Who asks meanwhile waits for the same upload.
function uploaded(state, page) {
  if (state.upload) return Promise.resolve();
  const { file } = state;
  const stop = new AbortController();
  const work = state.sending ?? sent(state, page, file, stop).finally(() => {
    if (state.sending === work) state.sending = null;
    if (!state.sending) page.progress.hidden = true;
  });
  if (state.sending !== work) [state.sending, state.stop] = [work, () => stop.abort()];
  return work;
}

async function sent(state, { progress }, file, stop) {
  const type = { kind: state.kind.name, content_type: typeOf(file) };
  const slot = (await insist("POST", "v1/uploads", { body: type })).body;
  if (stop.signal.aborted) throw new Stopped();
  [progress.value, progress.hidden] = [0, false];
  await send(slot, file, (part) => (progress.value = part), stop.signal);
  state.upload = { id: slot.upload, name: file.name };
}

async function submit(state, page, changed) {
  const { made, told } = page;
  const { kind } = state;
  fill(told);
  clearTimeout(state.timer);
  state.typing = false;
  if (!state.file && !state.upload && !orderOf(state, made)) {
    fill(told, notice("bad", t(addressed(kind) ? "new.nosource" : "new.nofile")));
    document.getElementById("file").focus();
    return;
  }
  try {
    if (!orderOf(state, made)) {
      await uploaded(state, page);
      changed();
      clearTimeout(state.timer);
    }
    const body = orderOf(state, made);
    if (kind.sized && !(await agreed(state, page, body))) return;
    const ordered = await place(body, () => fill(told, notice("warn", t("order.repeating"))));
    forgetDraft(kind.name);
    location.hash = `#/tasks/${ordered.id}`;
  } catch (trouble) {
    if (trouble instanceof Stopped) return;
    missing(state, trouble);
    fill(told, refusal(trouble));
  }
}

// Nobody pays a price that was not shown before the order was pressed.
async function agreed(state, page, body) {
  const shown = state.agreed;
  if (shown?.body === JSON.stringify(body)) return true;
  await quote(state, page);
  if (state.agreed && state.agreed.price === shown?.price) return true;
  if (state.agreed) fill(page.told, notice("warn", t("new.agree")));
  return false;
}

export function refusal(trouble) {
  if (trouble instanceof Unreachable) return notice("bad", t(pending() ? "order.unknown" : "trouble.unreachable.plain"));
  const busyWith = trouble.code === "resource-busy" && trouble.body.task;
  const link = busyWith && h("a", { href: `#/tasks/${busyWith.split("/").pop()}` }, t("order.follow"));
  return notice("bad", h("p", {}, explain(trouble)), link);
}

// --- the source: chosen, dropped, or an address ---------------------------------------------------

const addressed = (kind) => Boolean(kind.input.properties.url);

function source(state, { told }, { chosen: begin, changed, address }) {
  const { kind } = state;
  const chosen = h("span", { class: "chosen" }, state.upload ? t("new.uploaded", { name: state.upload.name }) : "");
  const picture = h("img", { class: "preview", alt: "", hidden: true });
  const file = h("input", { id: "file", type: "file", accept: kind.content_types.join(","), "aria-describedby": "file-hint" });
  const url = addressed(kind) && addressField(kind, address);
  const take = (given) => {
    fill(told);
    if (!given) return;
    if (!kind.content_types.includes(typeOf(given))) return fill(told, notice("bad", t("new.type", { types: kinds(kind) })));
    if (given.size > kind.bytes_max) return fill(told, notice("bad", t("new.size", { size: bytes(kind.bytes_max) })));
    state.stop();
    [state.file, state.upload, state.sending, state.typing] = [given, null, null, false];
    if (url) url.input.value = "";
    fill(chosen, `${given.name} · ${bytes(given.size)}`);
    if (picture.src) URL.revokeObjectURL(picture.src);
    picture.hidden = !given.type.startsWith("image/");
    if (!picture.hidden) picture.src = URL.createObjectURL(given);
    begin();
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
  // One or the other: an address takes the file's place. It is looked at when it is whole.
  const typed = (typing) => {
    fill(told);
    state.typing = typing || !url.input.checkValidity();
    if (!url.input.value) return;
    state.stop();
    [state.file, state.upload, state.sending, file.value, picture.hidden] = [null, null, null, "", true];
    fill(chosen);
  };
  if (!url) return area;
  url.input.addEventListener("input", (event) => typed(event.inputType !== "insertFromPaste"));
  url.input.addEventListener("change", () => {
    typed(false);
    changed();
  });
  return [area, url.element];
}

function addressField(kind, value = "") {
  const { maxLength } = resolved(kind.input.properties.url, kind.input);
  const input = h("input", { id: "field-url", name: "url", type: "url", pattern: "https:.+", maxlength: maxLength, inputmode: "url", autocomplete: "off", placeholder: "https:…", title: t("new.https"), value, "aria-describedby": "field-url-help" });
  const element = h("div", { class: "field" },
    h("label", { for: "field-url" }, t("new.url")), input,
    h("p", { id: "field-url-help", class: "quiet" }, t("new.urlhint")));
  return { input, element };
}

// Browsers do not know every type, nor call each by the same name.
const BY_NAME = { json: "application/json", gz: "application/gzip", webp: "image/webp", mp4: "video/mp4", m4v: "video/mp4", mov: "video/quicktime", webm: "video/webm", mkv: "video/x-matroska" };
const ALIASES = { "application/x-gzip": "application/gzip", "video/x-m4v": "video/mp4", "video/matroska": "video/x-matroska" };
const typeOf = (file) => ALIASES[file.type] ?? (file.type || BY_NAME[file.name.split(".").pop().toLowerCase()]);

const SAID = { quicktime: "MOV", "x-matroska": "MKV" };
const kinds = (kind) => kind.content_types.map((each) => each.split("/").pop()).map((each) => SAID[each] ?? each.toUpperCase()).join(", ");

// --- fields from the schema -----------------------------------------------------------------------

const resolved = (schema, root) => {
  if (schema.$ref) return { ...root.$defs[schema.$ref.split("/").pop()], ...schema, $ref: undefined };
  const real = schema.anyOf?.find((each) => each.type !== "null");
  return real ? { ...resolved(real, root), ...schema, anyOf: undefined } : schema;
};

const properties = (kind) =>
  Object.entries(kind.input.properties)
    .filter(([name]) => name !== "source")
    .map(([name, schema]) => [name, shaped(name, resolved(schema, kind.input))]);

// Languages are chosen by their names. The reader's own is the first guess.
const shaped = (name, schema) =>
  name === "language" && schema.type === "string" && !schema.enum ? { ...schema, enum: LANGUAGES, default: language } : schema;

function fields(kind, draft) {
  const made = properties(kind).filter(([name]) => name !== "url").map(([name, schema]) => oneField(kind, name, schema, draft.values?.[name]));
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
      h("option", { value: each, selected: String(each) === String(value) }, named(`option.${name}`, each, name === "language" ? nameOfLanguage(each) : String(each)))));
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
