// Edits are kept in the browser until the server has stored them; those of another window are noticed.

import { Kept } from "./kept.js";
import { get, send, wait } from "./net.js";

const MOST_AT_ONCE = 100, LOOK_MS = 4000;

export class Sync {
  /**
   * `path` is that of the annotation. `on.state(kind, count, message)` is told how the saving stands, `on.more(events)` what another
   * window has done, `on.clash(clash)` that the edits of this window do not follow those of the server.
   */
  constructor(path, name, on) {
    Object.assign(this, { path, on });
    this.kept = new Kept(name);
    this.waiting = [];
    this.next = 0;
    this.busy = null;
    this.stopped = "";
    this.channel = "BroadcastChannel" in window ? new BroadcastChannel(`edgecritic:${name}`) : null;
    if (this.channel) this.channel.onmessage = () => this.look();
    setInterval(() => this.look(), LOOK_MS);
    for (const name_ of ["focus", "online"]) window.addEventListener(name_, () => this.look());
    document.addEventListener("visibilitychange", () => this.look());
  }

  /** Begin after the edits of the server; return the edits to show and the open line that an earlier visit has left. */
  resume(events) {
    this.next = events.length;
    const known = new Set(events.map((event) => event.key));
    let line = null;
    for (const left of this.kept.left()) {
      line ??= left.line;
      const mine = left.events.filter((event) => !known.has(event.key));
      if (!mine.length) { this.kept.set({ line }); left.forget(); continue; }
      if (!this.waiting.length && mine[0].seq === this.next) {
        this.waiting = mine;
        this.next += mine.length;
        this.keep();
        this.kept.set({ line });
        left.forget();
      } else if (!this.stopped) this.clash({ base: mine[0].seq, events: mine, forget: left.forget }, "diverged");
    }
    this.flush();
    return { events: [...this.waiting], line };
  }

  push(edit) {
    const key = crypto.randomUUID ? crypto.randomUUID() : `${Date.now()}-${Math.random().toString(36).slice(2)}`;
    this.waiting.push({ seq: this.next++, key, op: edit.op, data: edit.data, at: Date.now() });
    this.keep();
    this.flush();
  }

  keep() { this.kept.set({ base: this.waiting[0]?.seq ?? this.next, events: this.waiting }); }

  flush() {
    if (this.busy || this.stopped) return this.busy;
    this.busy = this.work().finally(() => { this.busy = null; });
    return this.busy;
  }

  async work() {
    let pause = 500;
    while (this.waiting.length) {
      this.on.state("saving", this.waiting.length);
      const part = this.waiting.slice(0, MOST_AT_ONCE);
      try {
        await send(`${this.path}/events`, { json: { events: part } });
        this.waiting = this.waiting.slice(part.length);
        this.keep();
        this.channel?.postMessage("saved");
        pause = 500;
      } catch (failure) {
        if (failure.status >= 400 && failure.status < 500 && ![408, 429].includes(failure.status)) {
          if (failure.status === 409 && failure.code) this.clash({ base: this.waiting[0].seq, events: this.waiting, forget: () => {} }, failure.code);
          else this.stop("refused", failure.message);
          return;
        }
        this.on.state("offline", this.waiting.length);
        await wait(pause);
        pause = Math.min(2 * pause, 4000);
      }
    }
    this.on.state("saved", 0);
  }

  /** Take over what another window has stored, if nothing of this one is under way. */
  async look() {
    if (this.looking || this.stopped || this.busy || this.waiting.length || document.hidden) return;
    this.looking = true;
    try {
      const page = await get(`${this.path}/events?from=${this.next}`);
      if (this.stopped || this.busy || this.waiting.length) return;
      if (page.submitted) { this.stop("submitted", "Submitted in another window"); return; }
      if (page.count < this.next) this.stop("refused", "The edits on the server are others than those shown here.");
      else if (page.events.length && this.on.more(page.events)) this.next += page.events.length;
    } catch (failure) {
      if (failure.status === 403 || failure.status === 404) this.stop("refused", failure.message);
    } finally { this.looking = false; }
  }

  /** Nothing more can be stored from here: say why, and let nobody go on drawing. */
  stop(kind, message) {
    this.stopped = kind;
    this.on.state("refused", this.waiting.length, message);
  }

  clash(mine, code) {
    this.stop(code, code === "submitted" ? "Submitted in another window" : "Edited in another window");
    this.on.clash({ ...mine, code });
  }

  /** Go on after a clash: with these edits of the server, and with those of this window that follow them. */
  restart(events, mine = []) {
    this.stopped = "";
    this.next = events.length;
    this.waiting = mine.map((event, at) => ({ ...event, seq: events.length + at }));
    this.next += mine.length;
    this.keep();
    this.flush();
    if (!mine.length) this.on.state("saved", 0);
  }

  /** Wait until everything is stored. */
  async settled() {
    while (this.waiting.length && !this.stopped) await (this.flush() ?? wait(20));
    return !this.stopped;
  }
}
