// The HTTP API as this page uses it. Two kinds of trouble: the service refused (Problem), or it
// could not be asked (Unreachable), which says nothing about any task.

import * as session from "./session.js";

const TIMEOUT_MS = 30_000;
const REPEATS_MS = [1000, 2000, 4000, 8000];

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? body.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = body.code ?? String(status);
    this.body = body;
  }
}

export class Unreachable extends Error {
  constructor(why, afterMs = null) {
    super(String(why));
    this.afterMs = afterMs;
  }
}

export class SignedOut extends Error {}
export class Stopped extends Error {}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const waitOf = (answer) => (Number(answer.headers.get("Retry-After")) || 0) * 1000 || null;

export async function ask(method, path, { body, key, etag, accept } = {}) {
  const headers = {};
  const token = await session.token();
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  if (etag) headers["If-None-Match"] = etag;
  if (accept) headers.Accept = accept;
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers,
      cache: "no-store",
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (trouble) {
    throw new Unreachable(trouble);
  }
  return understood(answer, accept);
}

async function understood(answer, accept = "") {
  const facts = { etag: answer.headers.get("ETag"), afterMs: waitOf(answer), status: answer.status };
  if (answer.status === 304) return { ...facts, same: true };
  const text = answer.ok && accept.startsWith("text/");
  const told = await (text ? answer.text() : answer.json()).catch(() => null);
  if (answer.ok && told !== null) return { ...facts, body: told };
  if (answer.status === 401 && session.signedIn()) {
    session.signOut({ told: true });
    throw new SignedOut();
  }
  const ours = Boolean(told?.code);
  if (answer.ok || answer.status >= 500 || (answer.status === 429 && !ours)) {
    throw new Unreachable(`HTTP ${answer.status}`, facts.afterMs);
  }
  throw new Problem(answer.status, told ?? {});
}

export const get = async (path) => (await ask("GET", path)).body;

// Sends something that is safe to send again, because its key or its nature makes it happen once.
export async function insist(method, path, options, onWait = () => {}) {
  for (const [index, ms] of [...REPEATS_MS, null].entries()) {
    try {
      return await ask(method, path, options);
    } catch (trouble) {
      const again = trouble instanceof Unreachable || trouble.code === "concurrent-request";
      if (!again || ms === null) throw trouble;
      const wait = trouble.afterMs ?? ms;
      onWait(wait, index + 1);
      await pause(wait);
    }
  }
  return null;
}

// Sends a file through an upload form. Only XMLHttpRequest tells how far an upload has come.
export function send(form, file, onProgress, signal) {
  const fields = new FormData();
  for (const [name, value] of Object.entries(form.fields)) fields.append(name, value);
  fields.append("file", file);
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("POST", form.url);
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    request.onload = () =>
      request.status < 300 ? done() : failed(new Problem(request.status, { code: "upload-refused" }));
    request.onerror = () => failed(new Unreachable("upload"));
    request.onabort = () => failed(new Stopped());
    signal.addEventListener("abort", () => request.abort());
    request.send(fields);
  });
}

export const newKey = () => crypto.randomUUID();
