// Requests to our own server.

export class Failure extends Error {
  /** `status` is 0 without a connection; `code` tells why a person may not go on. */
  constructor(message, status, code = "") { super(message); this.status = status; this.code = code; }
}

export async function send(path, { method = "POST", json, body, headers = {} } = {}) {
  const options = { method, headers: { "x-edgecritic": "1", ...headers }, credentials: "same-origin" };
  if (json !== undefined) {
    options.body = JSON.stringify(json);
    options.headers["content-type"] = "application/json";
  } else if (body !== undefined) {
    options.body = body;
    options.headers["content-type"] = "application/octet-stream";
  }
  let reply;
  try {
    reply = await fetch(path, options);
  } catch {
    throw new Failure("The server cannot be reached.", 0);
  }
  let answer = {};
  try { answer = await reply.json(); } catch { /* not JSON: the status tells enough */ }
  if (!reply.ok) throw new Failure(answer.error ?? `The server answered ${reply.status}.`, reply.status, answer.code);
  return answer;
}

export const get = (path) => send(path, { method: "GET" });

export const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
