// Drives Chromium by what comes on standard input, one JSON object a line, and answers
// each with one line. See browser.go.
import { createInterface } from 'node:readline';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const tabs = new Map();

async function tab(c) {
  if (!tabs.has(c.tab)) {
    const context = await browser.newContext({ timezoneId: c.zone ?? 'Europe/Paris', locale: 'en-GB', bypassCSP: false, javaScriptEnabled: c.script ?? true });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const t = { context, page, errors: [], foreign: [] };
    page.on('console', (m) => { if (m.type() === 'error' || m.type() === 'warning') t.errors.push(m.text()); });
    page.on('pageerror', (e) => t.errors.push(String(e)));
    page.on('request', (r) => { if (new URL(r.url()).protocol !== 'data:') t.foreign.push(new URL(r.url()).origin); });
    tabs.set(c.tab, t);
  }
  return tabs.get(c.tab);
}

const commands = {
  async open({ page }, c) { return (await page.goto(c.url, { waitUntil: c.until ?? 'load' })).status(); },
  async show({ page }, c) { await page.setContent(c.html); },
  async height({ page }, c) { return Math.ceil((await page.locator(c.at).first().boundingBox()).height); },
  async url({ page }) { return page.url(); },
  async text({ page }, c) { return (await page.locator(c.at).allInnerTexts()).join('\n'); },
  async count({ page }, c) { return page.locator(c.at).count(); },
  async attribute({ page }, c) { return page.locator(c.at).first().getAttribute(c.name); },
  async wait({ page }, c) { await page.locator(c.at).filter({ hasText: c.text ?? '' }).first().waitFor(); },
  async click({ page }, c) { await page.locator(c.at).first().click(); },
  async fill({ page }, c) { await page.locator(c.at).first().fill(c.text); },
  async press({ page }, c) { await page.keyboard.press(c.text); },
  async focused({ page }) { return page.evaluate(() => document.activeElement?.textContent?.trim() ?? ''); },
  async look({ page }, c) { // at a width, in a scheme
    await page.setViewportSize({ width: c.width ?? 1280, height: c.height ?? 900 });
    await page.emulateMedia({ colorScheme: c.scheme ?? 'light' });
  },
  async overflow({ page }) { return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth); },
  async picture({ page }, c) { await page.screenshot({ path: c.file, fullPage: c.whole ?? false }); },
  async axe({ context, page }) {
    const cdp = await context.newCDPSession(page); // a world of its own: the page's policy stays
    const { frameTree } = await cdp.send('Page.getFrameTree');
    const { executionContextId } = await cdp.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'axe' });
    const run = async (expression) => {
      const r = await cdp.send('Runtime.evaluate', { expression, contextId: executionContextId, awaitPromise: true, returnByValue: true });
      if (r.exceptionDetails) throw new Error(r.exceptionDetails.exception?.description ?? r.exceptionDetails.text);
      return r.result.value;
    };
    await run(axe + ';0');
    return run(`axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) => v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join(', ')))`);
  },
  async errors(t) { const e = t.errors; t.errors = []; return e; },
  async origins(t) { return [...new Set(t.foreign)]; },
  async close(t, c) { tabs.delete(c.tab); await t.context.close(); },
};

for await (const line of createInterface({ input: process.stdin })) {
  const c = JSON.parse(line);
  let answer;
  try {
    answer = { value: (await commands[c.do](await tab(c), c)) ?? null };
  } catch (e) {
    answer = { error: String(e) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
await browser.close();
