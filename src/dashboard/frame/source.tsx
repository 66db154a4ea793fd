/** Texts of strangers as they are: sources of mail and SMTP sessions. */

/** A text in its own lines, such as a source or a session. It scrolls by itself, also by keyboard. */
export function Source({ label, text, dir = 'auto' }: { label: string; text: string; dir?: 'auto' | 'ltr' }) {
  return (
    <section class="source" tabIndex={0} aria-label={label}>
      <pre dir={dir}>{text}</pre>
    </section>
  );
}
