// Ask for a token. It is sent once; a cookie that scripts cannot read stands for it.

import { element } from "../dom.js";
import { ask } from "./api.js";

export function loginView(session, onDone, logOut) {
  const input = element("input", {
    id: "token", name: "token", type: "password", autocomplete: "current-password", required: true, spellcheck: "false",
    "aria-describedby": "token-help login-problem", maxlength: 500,
  });
  const problem = element("p", { id: "login-problem", class: "problem", role: "alert" });
  const button = element("button", { type: "submit", class: "primary" }, "Log in");
  const form = element(
    "form",
    { class: "panel login", onsubmit: submit },
    element("h1", { tabindex: -1 }, "Log in"),
    element("label", { for: "token" }, "Token"),
    input,
    problem,
    button,
    element("p", { id: "token-help", class: "note" }, "Whoever runs this service makes tokens by ", element("code", {}, "trustream token create"), "; reading needs the scope “read”."),
  );
  if (session.authenticated) {
    problem.textContent = `The token ${JSON.stringify(session.name)} may not read. Log in with another one.`;
    form.append(element("button", { type: "button", onclick: logOut }, "Log out"));
  }

  async function submit(event) {
    event.preventDefault();
    problem.textContent = "";
    button.disabled = true;
    try {
      await ask("session", { body: { token: input.value.trim() } });
      return await onDone();
    } catch (error) {
      problem.textContent =
        error.status === 401 ? "This token is unknown, was revoked or has expired." : error.message;
    } finally {
      button.disabled = false;
    }
    input.setAttribute("aria-invalid", "true");
    input.select();
  }

  return form;
}
