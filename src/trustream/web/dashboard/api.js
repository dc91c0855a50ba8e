// Ask the service. Answers are JSON; refusals are problems (RFC 9457).

const API = "/api/v1/";
const SECONDS = 20;
// What has to be computed: the process that does it may have to be started, and the service itself gives up after a minute.
const COMPUTED = /^(?:infer|nearest|document|search)$/;
const COMPUTED_SECONDS = 70;

// Why a request has no answer: `status` is 0 if the service was not reached.
export class ApiProblem extends Error {
  constructor(status, type, detail) {
    super(detail);
    this.status = status;
    this.type = type.replace("urn:trustream:problem:", "");
  }
}

let refused = () => {};

// Call this function when the service asks for a token.
export function onRefused(handler) {
  refused = handler;
}

// ask("topics/3"), ask("infer", {body: {texts: ["..."]}}), ask("session", {method: "DELETE"})
export async function ask(path, { method = null, body = null, query = {} } = {}) {
  const address = new URL(API + path, location.origin);
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) address.searchParams.set(name, value);
  }
  const options = { method: method ?? (body === null ? "GET" : "POST"), headers: { Accept: "application/json" } };
  if (body !== null) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const seconds = COMPUTED.test(path) ? COMPUTED_SECONDS : SECONDS;
  options.signal = AbortSignal.timeout(1000 * seconds);
  let response;
  let content = null;
  try {
    response = await fetch(address, options);
    if (response.status !== 204) content = await response.json();
  } catch (error) {
    if (response && !response.ok) throw new ApiProblem(response.status, "", `The service answered ${response.status}.`);
    if (error.name === "TimeoutError") throw new ApiProblem(0, "slow", `The service has not answered for ${seconds} seconds: try again.`);
    throw new ApiProblem(0, "unreachable", "The service cannot be reached.");
  }
  if (response.ok) return content;
  const problem = new ApiProblem(response.status, String(content?.type ?? ""), String(content?.detail ?? response.statusText));
  if (response.status === 401 && path !== "session") refused();
  throw problem;
}

// A document by its id. It goes as a parameter: a browser takes the ids "." and ".." for steps in a
// path, in whatever way they are written.
export function askDocument(id, method = "GET") {
  return ask("document", { method, query: { id: wellFormed(id) } });
}

// For an address; half characters, which addresses cannot have, become question marks.
export function encoded(text) {
  return encodeURIComponent(wellFormed(text));
}

function wellFormed(text) {
  return String(text).toWellFormed?.() ?? String(text).replace(/[\ud800-\udfff]/g, "?");
}
