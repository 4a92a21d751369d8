// A delivered analysis as a page. What it says is a model's, or a stranger's: text, and nothing else.

import { explain } from "./app.js";
import { ask, get } from "./api.js";
import { busy, fill, h, notice } from "./dom.js";
import { facts } from "./task.js";
import { languageTag, named, nameOfLanguage, number, t } from "./texts.js";

const LINES = 100; // of a transcript at first; a film of two hours has thousands

// Fills the places of a task's page; `renew` is told when a picture's link has ended.
export async function show({ head, more, body }, task, renew) {
  const path = `v1/tasks/${encodeURIComponent(task.id)}/result`;
  const found = await get(path);
  const list = storyboard(found, task.result.thumbnails ?? [], renew);
  const to = (span) => time(found, list, span);
  fill(head, summary(found), facts(measured(found)));
  fill(more, markdown(path, task));
  fill(body,
    part("points", points(found, to)),
    part("storyboard", found.absent.descriptions !== found.absent.summary && absent(found, "descriptions"), list),
    part("transcript", transcript(found, to)));
}

const part = (name, ...content) =>
  h("section", { class: "card", "aria-labelledby": name }, h("h2", { id: name }, t(`analysis.${name}`)), content);

// The reason in the reader's language where the service gives one that is known.
const absent = (found, name) =>
  found.absent[name] && h("p", { class: "quiet" }, named("absent", found.absent[name], found.absent[name]));

// --- what was measured, and who said the rest -----------------------------------------------------

const summary = (found) => (found.summary ? h("p", { class: "summary" }, found.summary) : absent(found, "summary"));

function measured(found) {
  const { video, made_by: by } = found;
  return [
    [t("result.length"), clock(video.seconds)],
    [t("result.size"), `${video.width} × ${video.height} · ${number(video.frames_per_second)} fps · ${video.codec}`],
    [t("analysis.sound"), sound(found)],
    [t("analysis.spoken"), found.language ? nameOfLanguage(found.language) : null],
    [t("analysis.by"), [named("option.provider", by.provider), by.model, by.listener && named("option.provider", by.listener)].filter(Boolean).join(" · ")],
    [t("analysis.tokens"), by.input_tokens !== null && t("analysis.tokencounts", { read: number(by.input_tokens), written: number(by.output_tokens ?? 0), count: by.questions })],
    [t("analysis.cost"), by.dollars && `${by.dollars} USD`],
  ];
}

function sound(found) {
  if (!found.sound) return absent(found, "sound");
  const { loudness, heard_seconds: heard } = found.sound;
  const known = [loudness !== null && `${number(loudness)} LUFS`, t("analysis.heard", { heard: clock(heard), whole: clock(found.video.seconds) })];
  return known.filter(Boolean).join(" · ");
}

// --- times, and what they lead to -----------------------------------------------------------------

const clock = (seconds) => {
  const tenths = Math.round(seconds * 10);
  return `${Math.floor(tenths / 600)}:${((tenths % 600) / 10).toFixed(1).padStart(4, "0")}`;
};
const range = ({ start, end }) => `${clock(start)} – ${clock(end)}`;

// A time leads to the shot that is seen then.
function time(found, list, { start, end }) {
  const text = end === undefined ? clock(start) : range({ start, end });
  const after = found.shots.findIndex((shot) => start < shot.end);
  const shot = list.children[after < 0 ? found.shots.length - 1 : after];
  const go = () => {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    shot.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
    shot.focus({ preventScroll: true });
  };
  return h("button", { type: "button", class: "time", "aria-label": t("analysis.go", { time: text }), onclick: go }, text);
}

// --- its three parts ------------------------------------------------------------------------------

function points(found, to) {
  if (!found.selling_points) return absent(found, "selling_points");
  if (!found.selling_points.length) return h("p", { class: "quiet" }, t("analysis.nopoints"));
  return h("ul", { class: "points" }, found.selling_points.map((point) =>
    h("li", {}, h("p", {}, point.text), h("div", { class: "times" }, point.evidence.map(to)))));
}

function storyboard(found, pictures, renew) {
  const { width, height } = found.video;
  const picture = (shot) => {
    const src = shot.key_frame !== null && pictures[shot.key_frame - 1];
    if (!src) return null;
    const made = h("img", { src, width, height, loading: "lazy", alt: t("analysis.frame", { number: shot.number }) });
    made.addEventListener("error", renew);
    return made;
  };
  return h("ol", { class: "shots" }, found.shots.map((shot) =>
    h("li", { tabindex: "-1" },
      picture(shot),
      h("div", { class: "said" },
        h("h3", {}, h("span", { class: "number" }, shot.number), range(shot)),
        shot.description && h("p", {}, shot.description),
        shot.on_screen_text && h("p", { class: "shown" }, h("span", { class: "quiet" }, t("analysis.shown")), ` ${shot.on_screen_text}`)))));
}

function transcript(found, to) {
  if (!found.transcript) return absent(found, "transcript");
  if (!found.transcript.length) return h("p", { class: "quiet" }, t("analysis.silent"));
  const lines = h("ol", { class: "lines", lang: languageTag(found.language) });
  const more = h("button", { type: "button", class: "quiet" }, t("more"));
  const draw = () => {
    const from = lines.children.length;
    lines.append(...found.transcript.slice(from, from + LINES).map((said) =>
      h("li", {}, to({ start: said.start }), h("p", {}, said.text))));
    more.hidden = lines.children.length === found.transcript.length;
  };
  more.addEventListener("click", draw);
  draw();
  return [lines, more];
}

// --- as Markdown ----------------------------------------------------------------------------------

function markdown(path, task) {
  const told = h("div", { class: "wide", "aria-live": "polite" });
  const read = async () => (await ask("GET", path, { accept: "text/markdown" })).body;
  const button = (id, work) => {
    const made = h("button", { id, type: "button", class: "quiet" }, t(`result.${id}`));
    made.addEventListener("click", busy(made, async () => {
      fill(told);
      await work().catch((trouble) => fill(told, notice("bad", explain(trouble))));
    }));
    return made;
  };
  const copy = async () => {
    // Handed over as a promise: a browser allows it only at once after the click.
    const text = read().then((found) => new Blob([found], { type: "text/plain" }));
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": text })]).catch(async (trouble) => {
      await text;
      throw trouble;
    });
    fill(told, notice("good", t("result.copied")));
  };
  const save = async () => {
    const href = URL.createObjectURL(new Blob([await read()], { type: "text/markdown" }));
    h("a", { href, download: `${task.kind}-${task.id}.md` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  };
  return [button("markdown", save), navigator.clipboard?.write && button("copy", copy), told];
}
