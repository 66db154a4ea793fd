/** The stylesheet of the public pages. It follows the colours that the reader's system prefers. */
export const STYLESHEET = `:root { color-scheme: light dark; }
body {
  margin: 0 auto;
  padding: 2rem 1rem;
  max-width: 34rem;
  font: 1rem/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.5rem; }
form { margin: 0 0 0.75rem; }
fieldset { margin: 1.5rem 0; padding: 1rem; border: 1px solid; border-radius: 0.5rem; }
legend { padding: 0 0.5rem; font-weight: bold; }
label { display: flex; gap: 0.75rem; margin: 0 0 0.75rem; }
label small { display: block; }
button { padding: 0.5rem 1rem; font: inherit; cursor: pointer; }
`;
