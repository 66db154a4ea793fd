/** Finds CSS that mail programs do not support. It reads declarations one after another, in linear time, and is no full parser. */
import { AT_RULES, CUSTOM_PROPERTY, PROPERTIES } from './client-support.ts';
import type { Findings } from './findings.ts';

const COMMENT = /\/\*[\s\S]*?\*\//g;
/** Matches what ends a declaration, a rule or the head of a rule. */
const ENDS = /[;{}]/;
/** Maximum length of a declaration that is looked at: longer ones carry data. */
const MAX_DECLARATION_CHARACTERS = 2_000;

/** Checks a style sheet, or the declarations of a `style` attribute, that begins in a line of the HTML. */
export function checkCss(findings: Findings, css: string, line: number): void {
  for (const part of css.replace(COMMENT, ' ').split(ENDS)) checkPart(findings, part.trim(), line);
}

function checkPart(findings: Findings, part: string, line: number): void {
  if (part === '' || part.length > MAX_DECLARATION_CHARACTERS) return;
  const place = { line, text: part };
  const [, rule] = /^@(?:-\w+-)?([a-z-]+)/i.exec(part) ?? [];
  if (rule !== undefined) {
    const feature = AT_RULES.get(rule.toLowerCase());
    if (feature) findings.add('unsupported_css', place, feature);
    return;
  }
  const colon = part.indexOf(':');
  if (colon < 0) return;
  const name = part.slice(0, colon).trim().toLowerCase();
  const value = part.slice(colon + 1);
  if (/^--[\w-]+$/.test(name)) findings.add('unsupported_css', place, CUSTOM_PROPERTY);
  for (const { values, feature } of PROPERTIES.get(name) ?? [])
    if (values?.test(value) ?? true) findings.add('unsupported_css', place, feature);
}
