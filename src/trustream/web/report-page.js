// What runs on the page of a report.

import { report } from "./report.js";

report(document.getElementById("report"), JSON.parse(document.getElementById("data").textContent));
