// Requests to our own server, and what its packed replies hold.

async function ask(path, signal) {
  let reply;
  try { reply = await fetch(path, { signal }); } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The viewer does not answer any more; was it ended?");
  }
  if (reply.ok) return reply;
  let told = `The viewer answered ${reply.status}.`;
  try { told = (await reply.json()).error ?? told; } catch { /* the status tells enough */ }
  throw new Error(told);
}

export const json = async (path, signal) => (await ask(path, signal)).json();

export const bitmap = async (path) => createImageBitmap(await (await ask(path)).blob());

/** Return the head of a packed reply, with its arrays by name in `arrays`. */
export async function packed(path, signal) {
  const buffer = await (await ask(path, signal)).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  let at = 4 + length;
  for (const [name, kind, size] of head.arrays) {
    arrays[name] = kind === "f" ? new Float32Array(buffer, at, size) : new Uint32Array(buffer, at, size);
    at += 4 * size;
  }
  return { ...head, arrays };
}

/** Replies that were asked for, or may be next: the latest few of them. */
export class Ahead {
  constructor(most = 12) { this.most = most; this.coming = new Map(); }

  /** Return the reply of a path; what has failed is asked for again. */
  take(path) {
    const reply = this.coming.get(path) ?? packed(path);
    this.coming.delete(path);
    this.coming.set(path, reply);
    reply.catch(() => this.coming.delete(path));
    if (this.coming.size > this.most) this.coming.delete(this.coming.keys().next().value);
    return reply;
  }
}

/** One request at a time: of those that come meanwhile only the latest is made. */
export class Latest {
  constructor(act) { this.act = act; this.busy = false; this.next = null; }

  ask(...given) {
    if (this.busy) { this.next = given; return; }
    this.busy = true;
    this.act(...given).finally(() => {
      this.busy = false;
      if (this.next) { const again = this.next; this.next = null; this.ask(...again); }
    });
  }
}
