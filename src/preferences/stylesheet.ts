/**
 * The stylesheets of the public pages. They follow the colours that the reader's system prefers, and name no side of the page as left or right.
 * A brand has a second stylesheet with its colours, because the policy of the pages allows no style in the page itself.
 */
import type { ColourPairs } from '../branding/colours.ts';

export const STYLESHEET_PATH = '/preferences.css';

export const STYLESHEET = `:root { color-scheme: light dark; --brand: #1f5fbf; --on-brand: #fff; }
body {
  margin: 0 auto;
  padding: 2rem 1rem;
  max-width: 34rem;
  font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere;
}
header { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; margin: 0 0 1.5rem; }
header img { max-width: 100%; height: auto; padding: 0.25rem; border-radius: 0.25rem; background: #fff; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 1.25rem; }
a { color: inherit; }
form { margin: 0 0 0.75rem; }
fieldset { margin: 0 0 1.5rem; padding: 0.5rem 1rem 1rem; border: 1px solid #767676; border-radius: 0.5rem; }
legend { padding: 0 0.5rem; font-weight: bold; }
label { display: flex; align-items: flex-start; gap: 0.75rem; padding: 0.5rem 0; cursor: pointer; }
label span { min-width: 0; }
label small { display: block; }
input { flex: none; width: 1.25rem; height: 1.25rem; margin: 0.125rem 0 0; accent-color: var(--brand); }
button {
  min-height: 2.75rem;
  padding: 0.5rem 1.25rem;
  border: 1px solid #767676;
  border-radius: 0.5rem;
  background: transparent;
  color: inherit;
  font: inherit;
  cursor: pointer;
}
button[value=unsubscribe], button[value=save], button[value=confirm] { background: var(--brand); color: var(--on-brand); }
button[value=save] { margin-top: 0.5rem; }
@media (max-width: 26rem) { button { width: 100%; } }
`;

/** Returns the stylesheet with the colours of a brand. */
export function brandStylesheet({ light, dark }: ColourPairs): string {
  return `:root { --brand: ${light.color}; --on-brand: ${light.text}; }
header { padding: 0.75rem 1rem; border-radius: 0.5rem; background: var(--brand); color: var(--on-brand); }
@media (prefers-color-scheme: dark) { :root { --brand: ${dark.color}; --on-brand: ${dark.text}; } }
`;
}
