/** The stylesheet of the public pages. It follows the colours that the reader's system prefers. */
export const STYLESHEET = `:root { color-scheme: light dark; }
body {
  margin: 0 auto;
  padding: 2rem 1rem;
  max-width: 34rem;
  font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere;
}
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 1.25rem; }
a { color: inherit; }
form { margin: 0 0 0.75rem; }
fieldset { margin: 0 0 1.5rem; padding: 0.5rem 1rem 1rem; border: 1px solid #767676; border-radius: 0.5rem; }
legend { padding: 0 0.5rem; font-weight: bold; }
label { display: flex; align-items: flex-start; gap: 0.75rem; padding: 0.5rem 0; cursor: pointer; }
label small { display: block; }
input { flex: none; width: 1.25rem; height: 1.25rem; margin: 0.125rem 0 0; accent-color: #1f5fbf; }
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
button[value=unsubscribe], button[value=save] { border-color: #1f5fbf; background: #1f5fbf; color: #fff; }
button[value=save] { margin-top: 0.5rem; }
@media (max-width: 26rem) { button { width: 100%; } }
`;
