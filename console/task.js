// One task: where it is, what happened, what came out of it, and what can be done now.

import { explain } from "./app.js";
import { ask, insist, Problem } from "./api.js";
import { busy, fill, h, notice } from "./dom.js";
import { place, refusal } from "./order.js";
import { follow } from "./poll.js";
import { badge, looks } from "./tasks.js";
import { bytes, named, number, span, t, time } from "./texts.js";

const STEPS = ["queued", "rendering", "verifying", "delivered"];
const FRESH_MS = 10 * 60_000; // a link lives for 15 minutes

export function show(main, [id]) {
  const title = h("h1", { tabindex: "-1" }, t("task.title"));
  const told = h("div", { "aria-live": "polite" });
  const body = h("div", { class: "stack" }, h("p", { class: "quiet" }, t("loading")));
  fill(main, h("a", { class: "back", href: "#/tasks" }, t("task.back")), title, told, body);
  const page = { id, body, told, video: null, read: null, seenAt: 0, poll: null };
  const path = `v1/tasks/${encodeURIComponent(id)}`;

  page.poll = follow((etag) => ask("GET", path, { etag }), {
    reached: () => {
      page.seenAt = Date.now();
      fill(told);
    },
    unreached: (ms) => fill(told, notice("warn", h("strong", {}, t("trouble.unreachable")), ` ${t("trouble.next", { wait: span(Math.round(ms / 1000)) })}`)),
    refused: (trouble) => fill(body, notice("bad", goneOr(trouble))),
    news: ({ body: task }) => {
      fill(title, named("kind", task.kind));
      document.title = `${title.textContent} · Tallyreel`;
      draw(page, task);
      return !task.done;
    },
  });
  const refresh = () => !document.hidden && (page.video || page.read) && Date.now() - page.seenAt > FRESH_MS && page.poll.again();
  document.addEventListener("visibilitychange", refresh);
  return () => {
    page.poll.stop();
    document.removeEventListener("visibilitychange", refresh);
  };
}

const goneOr = (trouble) => (trouble instanceof Problem && trouble.status === 404 ? t("task.missing") : explain(trouble));

function draw(page, task) {
  fill(
    page.body,
    h("section", { class: "card", "aria-label": t("task.state") },
      h("div", { class: "row" }, h("p", { id: "sentence", class: "sentence grow", "aria-live": "polite" }, sentence(task)), badge(task)),
      task.error && h("p", { class: "quiet" }, reason(task.error)),
      !task.done && bar(task),
      task.progress && h("progress", { max: task.progress.total, value: task.progress.done, "aria-label": t("state.rendering") }),
      h("p", { class: "quiet" }, t(`charge.${task.credits.state}`, { count: t("credits.count", { count: number(task.credits.amount) }) })),
      actions(page, task)),
    task.result?.url && result(page, task),
    timeline(task),
  );
}

export const sentence = (task) => named("sentence", looks(task), task.message);
const reason = (error) => named("error", error.code, error.reason);

function bar(task) {
  const at = STEPS.indexOf(task.state === "checking" ? "rendering" : task.state);
  return h("ol", { class: "steps" }, STEPS.map((each, index) =>
    h("li", { class: index < at ? "past" : index === at ? "now" : "", "aria-current": index === at ? "step" : null }, t(`state.${each}`))));
}

// --- what can be done -----------------------------------------------------------------------------

function actions(page, task) {
  const told = h("div");
  const made = [];
  if (!task.done && task.state !== "verifying") made.push(cancelButton(page, task, told));
  if (task.order_again) made.push(againButton(task, told));
  return made.length ? [h("div", { class: "row" }, made), told] : null;
}

function cancelButton(page, task, told) {
  const button = h("button", { id: "cancel", type: "button", class: "quiet" }, t("task.cancel"));
  button.addEventListener("click", busy(button, async () => {
    if (!(await sure(t("task.cancel.sure"), t("task.cancel")))) return;
    try {
      const { body } = await insist("POST", `v1/tasks/${task.id}/cancel`, {});
      draw(page, body);
      page.poll.now();
    } catch (trouble) {
      fill(told, notice("bad", explain(trouble)));
    }
  }));
  return button;
}

function againButton(task, told) {
  const count = t("credits.count", { count: number(task.credits.amount) });
  const button = h("button", { id: "again", type: "button" }, t("task.again", { count }));
  button.addEventListener("click", busy(button, async () => {
    try {
      const made = await place(task.order_again, () => fill(told, notice("warn", t("order.repeating"))));
      location.hash = `#/tasks/${made.id}`;
    } catch (trouble) {
      const link = trouble.body?.errors && h("a", { href: `#/new/${task.kind}` }, t("nav.new"));
      fill(told, refusal(trouble), link);
    }
  }));
  return button;
}

export function sure(question, yes) {
  return new Promise((done) => {
    const box = h("dialog", { class: "card", "aria-labelledby": "sure-text" },
      h("form", { method: "dialog" },
        h("p", { id: "sure-text" }, question),
        h("div", { class: "row" },
          h("button", { value: "yes" }, yes),
          h("button", { value: "no", class: "quiet" }, t("no")))));
    box.addEventListener("close", () => {
      done(box.returnValue === "yes");
      box.remove();
    });
    document.body.append(box);
    box.showModal();
  });
}

// --- what came out --------------------------------------------------------------------------------

function result(page, task) {
  return task.result.content_type === "application/json" ? written(page, task) : film(page, task);
}

function film(page, task) {
  const { result: made } = task;
  if (!page.video && made.content_type.startsWith("video/")) {
    page.video = h("video", { id: "video", controls: true, playsinline: true, preload: "metadata", "aria-label": named("kind", task.kind) });
    page.video.addEventListener("error", () => Date.now() - page.seenAt > FRESH_MS && page.poll.again());
  }
  if (page.video && page.video.src !== made.url) {
    page.video.poster = made.thumbnails?.[0] ?? "";
    page.video.src = made.url;
  }
  return h("section", { class: "card", "aria-labelledby": "result" },
    h("h2", { id: "result" }, t("result.title")),
    page.video,
    made.notice && notice("warn", made.notice),
    h("a", { id: "download", class: "button", href: made.url, download: "" }, t("result.download")),
    facts([
      [t("result.length"), span(made.seconds)],
      [t("result.size"), `${made.width} × ${made.height} · ${bytes(made.bytes)}`],
      ...file(made),
    ]),
    checks(made));
}

// A document is read here, by a module that films do without.
function written(page, task) {
  const { result: made } = task;
  page.read ??= { url: null, head: h("div", { class: "stack" }), body: h("div", { class: "stack" }), more: h("div", { class: "row" }) };
  const { read } = page;
  const renew = () => Date.now() - page.seenAt > FRESH_MS && page.poll.again();
  const open = () => {
    fill(read.head, h("p", { class: "quiet" }, t("loading")));
    import("./analysis.js").then((module) => module.show(read, task, renew)).catch((trouble) => {
      const again = h("button", { type: "button", class: "quiet" }, t("again"));
      again.addEventListener("click", busy(again, open));
      fill(read.head, notice("bad", h("p", {}, explain(trouble)), again));
    });
  };
  if (read.url !== made.url) {
    read.url = made.url;
    open();
  }
  return [
    h("section", { class: "card", "aria-labelledby": "result" },
      h("h2", { id: "result" }, t("result.title")),
      read.head,
      made.notice && notice("warn", made.notice),
      h("div", { class: "row" },
        h("a", { id: "download", class: "button", href: made.url, download: "" }, t("result.json")),
        read.more),
      facts(file(made)),
      checks(made)),
    read.body,
  ];
}

const file = (made) => [
  [t("result.until"), made.expires_at && time(made.expires_at)],
  ["SHA-256", h("code", {}, made.sha256)],
];

export const facts = (lines) =>
  h("dl", {}, lines.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));

const checks = (made) =>
  made.checks?.length > 0 && h("details", { id: "checks" },
    h("summary", {}, t("result.checks", { count: made.checks.length })),
    h("ul", { class: "checks" }, made.checks.map((check) =>
      h("li", {}, h("span", { class: `mark ${check.verdict}` }, named("verdict", check.verdict)),
        ` ${check.name}: ${check.value}`, check.limit && h("span", { class: "quiet" }, ` (${check.limit})`)))));

// --- what happened --------------------------------------------------------------------------------

function timeline(task) {
  const begun = new Date(task.created_at);
  const attempts = Map.groupBy(task.timeline, (step) => step.attempt);
  const last = task.timeline.at(-1)?.attempt;
  const lines = (steps) => h("ol", { class: "timeline" }, steps.map((step) =>
    h("li", { class: step.state },
      h("strong", {}, t(`state.${step.state}`)),
      h("span", { class: "quiet" }, ` ${named("reason", step.reason)}`),
      h("time", { datetime: step.at }, `${time(step.at)} · +${span((new Date(step.at) - begun) / 1000)}`))));
  return h("section", { class: "card", "aria-labelledby": "timeline" },
    h("h2", { id: "timeline" }, t("timeline.title")),
    [...attempts].map(([attempt, steps]) =>
      attempt === last
        ? [attempts.size > 1 && h("h3", {}, t("timeline.attempt", { attempt })), lines(steps)]
        : h("details", { id: `attempt-${attempt}` }, h("summary", {}, t("timeline.attempt", { attempt })), lines(steps))));
}
