// Chromium as the system has it.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

export const EXECUTABLE = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (file) => file && existsSync(file),
);

export async function launch() {
  if (!EXECUTABLE) throw new Error("there is no Chromium: apt-get install chromium, or name one in CHROMIUM");
  return chromium.launch({ executablePath: EXECUTABLE, args: ["--no-sandbox"] });
}
