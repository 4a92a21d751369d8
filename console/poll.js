// Asks again and again as the service wishes: when Retry-After says, only for what has changed, not
// while the page is hidden, and not after the end. What cannot be reached is asked ever more rarely.

import { SignedOut, Unreachable } from "./api.js";

const FIRST_MS = 2000;
const LAST_MS = 30_000;

// `look(etag)` asks once; `tell.news(answer)` returns whether to go on; returns how to stop.
export function follow(look, tell) {
  let timer = 0;
  let etag = null;
  let failures = 0;
  let over = false;
  let asking = false;

  const next = (ms) => {
    clearTimeout(timer);
    if (!over && !document.hidden) timer = setTimeout(turn, ms);
  };

  async function turn() {
    clearTimeout(timer);
    if (over || asking) return;
    asking = true;
    try {
      const answer = await look(etag);
      if (over) return;
      failures = 0;
      etag = answer.etag;
      tell.reached();
      over = answer.same ? false : !tell.news(answer);
      next(answer.afterMs ?? FIRST_MS);
    } catch (trouble) {
      if (over || trouble instanceof SignedOut) return;
      if (!(trouble instanceof Unreachable)) {
        over = true;
        tell.refused(trouble);
        return;
      }
      const wait = trouble.afterMs ?? Math.min(FIRST_MS * 2 ** failures++, LAST_MS);
      tell.unreached(wait);
      next(wait);
    } finally {
      asking = false;
    }
  }

  const wake = () => !document.hidden && turn();
  const sleep = () => (document.hidden ? clearTimeout(timer) : turn());
  document.addEventListener("visibilitychange", sleep);
  addEventListener("online", wake);
  turn();
  return {
    now: turn,
    again() {
      [over, etag] = [false, null];
      turn();
    },
    stop() {
      over = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", sleep);
      removeEventListener("online", wake);
    },
  };
}
