// Opens a page of 20,000 objects in Chromium and checks what a reader can do with it. tests/cli/pages/check.sh runs it.
//
//     node check.mjs PAGE.html CHROMIUM FOLDER
import { chromium } from "playwright-core";
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const [file, executablePath, folder] = process.argv.slice(2);
const url = pathToFileURL(file).href;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

for (const width of [1280, 390]) {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  const problems = [];
  page.on("dialog", (dialog) => { problems.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") problems.push(message.text()); });
  page.on("request", (request) => { if (request.url().split("#")[0] !== url) problems.push(`request ${request.url()}`); });
  await page.goto(url);
  const status = page.locator(".filter output");
  const total = await status.filter({ hasText: "objects" }).textContent();
  assert.match(total, /^20\d\d\d objects$/);
  const fits = async (where) => {
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 0, `${where}: the page is ${overflow} pixels wider than the window of ${width}`);
  };
  await fits("at first");
  await page.screenshot({ path: `${folder}/page-${width}.png` });

  // Problems are on the page in full; accepted objects are not, until their group is opened.
  assert.ok(await page.locator("section.object.bad").count() > 0);
  const group = page.locator("details.group").first();
  assert.equal(await group.locator("tbody tr").count(), 0);
  await group.locator("summary").click();
  await group.locator("tbody tr").nth(99).waitFor();
  assert.equal(await group.locator("tbody tr").count(), 100);
  await group.locator(".more button").click();
  await group.locator("tbody tr").nth(199).waitFor();
  await group.locator("tbody tr a").first().click();
  await group.locator("tr.opened section.object").waitFor();
  await fits("with an open object");
  await group.scrollIntoViewIfNeeded();
  await page.screenshot({ path: `${folder}/group-${width}.png` });
  await group.locator("tbody tr a").first().click();
  assert.equal(await group.locator("tr.opened").count(), 0);

  // A hostile name stays text, on the page and in compressed objects.
  await page.locator(".filter input").fill("<img src=x onerror=alert(1)>");
  await status.filter({ hasText: /^\d+ objects?$/ }).waitFor();
  await page.waitForFunction(() => !document.querySelector(".filter output").textContent.startsWith("20"));
  const found = page.locator("details.group:not([hidden])");
  assert.ok(await found.count() > 0, "a group has the hostile object");
  if (!(await found.first().evaluate((element) => element.open))) await found.first().locator("summary").click();
  await found.first().locator("tbody tr a").first().waitFor();
  await found.first().locator("tbody tr a").first().click();
  await found.first().locator("tr.opened section").waitFor();
  assert.ok((await found.first().textContent()).includes("<img src=x onerror=alert(1)>"));
  assert.equal(await page.locator("main img, main script, main iframe, [onerror], [onclick]").count(), 0);

  // The filter is in the URL, and a new page with that URL has it.
  const filtered = page.url();
  assert.ok(filtered.includes("#text="), filtered);
  const count = await status.textContent();
  const other = await browser.newPage({ viewport: { width, height: 900 } });
  await other.goto(filtered);
  await other.waitForFunction((count) => document.querySelector(".filter output").textContent === count, count);
  assert.equal(await other.locator(".filter input").inputValue(), "<img src=x onerror=alert(1)>");
  await other.close();

  // A verdict leaves out the others.
  await page.locator(".filter input").fill("");
  await page.locator(".filter select").selectOption("rejected");
  await page.waitForFunction(() => location.hash === "#verdict=rejected");
  await page.waitForFunction(() => /^\d+ objects?$/.test(document.querySelector(".filter output").textContent));
  assert.equal(await page.locator("section.object.good:visible").count(), 0);

  // The empty state.
  await page.locator(".filter input").fill("nothing has this text");
  await page.locator("#no-match").waitFor();
  await fits("without a match");
  await page.screenshot({ path: `${folder}/empty-${width}.png` });
  await page.locator("#no-match button").click();
  await page.waitForFunction((total) => document.querySelector(".filter output").textContent === total, total);
  assert.equal(await page.locator("#no-match").isVisible(), false);
  assert.deepEqual(problems, []);
  console.log(`${width} pixels: ${total}, ${count} with the hostile text`);
  await page.close();
}
await browser.close();
