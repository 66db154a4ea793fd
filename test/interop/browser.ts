/** Headless Chromium of Debian, which reaches some host names on this machine and nothing else. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';

const PROGRAM = '/usr/bin/chromium';
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * Starts the browser. `https://<name>` leads to the port of this machine that `hosts` names, and no other name leads anywhere. With
 * `keepsPages`, the back button shows a page as it was left, which Playwright turns off otherwise.
 */
export function startBrowser(
  hosts: Readonly<Record<string, number>>,
  { keepsPages = false }: { keepsPages?: boolean } = {},
): Promise<Browser> {
  const known = Object.entries(hosts).map(([name, port]) => `MAP ${name}:443 127.0.0.1:${port}`);
  const rules = [...known, 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1', 'EXCLUDE localhost'].join(', ');
  return chromium.launch({
    executablePath: PROGRAM,
    // The sandbox of Chromium does not work for root, which these tests run as.
    args: ['--no-sandbox', `--host-resolver-rules=${rules}`],
    ...(keepsPages && { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
  });
}

/** WCAG 2.2, levels A and AA, and what axe calls best practice. By default it leaves out the rules of 2.2. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const RULES = { runOnly: { type: 'tag', values: TAGS }, resultTypes: ['violations'] };

/**
 * Returns what axe finds wrong with the page, one line for each rule, such as `color-contrast: <button>…`. The page must
 * allow scripts.
 */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations, passes } = (await page.evaluate(`axe.run(${JSON.stringify(RULES)})`)) as AxeResult;
  if (passes.length === 0) return ['axe has checked nothing'];
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

type AxeResult = Record<'violations' | 'passes', { id: string; nodes: { html: string }[] }[]>;
