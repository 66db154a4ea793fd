/** The frame that every page of HTML has. */
import type { ComponentChildren } from 'preact';

type PageProps = { title: string; children: ComponentChildren; head?: ComponentChildren; lang?: string };

/** Returns a page with this content. `head` follows the elements that every page has there. */
export function Page({ title, head, lang = 'en', children }: PageProps) {
  return (
    <html lang={lang}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        {head}
      </head>
      <body>{children}</body>
    </html>
  );
}
