/** The frame of the public pages: the sender, by logo and name, above the content. A page without a known sender has no heading. */
import type { ComponentChildren } from 'preact';
import { pairsOf } from '../branding/colours.ts';
import { logoPath, stylesheetPath } from '../branding/paths.ts';
import { type Branding, NO_BRANDING } from '../branding/store.ts';
import { Page } from '../http/pages/page.tsx';
import type { Language } from './language.ts';
import { STYLESHEET_PATH } from './stylesheet.ts';

type PublicPageProps = {
  language: Language;
  title: string;
  /** Undefined where the sender is not known. */
  branding?: Branding | undefined;
  children: ComponentChildren;
};

/** Returns a page in the colours of the sender. */
export function PublicPage({ language, title, branding = NO_BRANDING, children }: PublicPageProps) {
  const pairs = pairsOf(branding);
  const head = (
    <>
      <link rel="stylesheet" href={STYLESHEET_PATH} />
      {pairs && <link rel="stylesheet" href={stylesheetPath(pairs)} />}
    </>
  );
  return (
    <Page title={title} lang={language} head={head}>
      <Sender {...branding} />
      <main>
        <h1>{title}</h1>
        {children}
      </main>
    </Page>
  );
}

/** Maximum size of the logo in pixels of CSS. A large logo has twice as many pixels, for screens with a high resolution. */
const MAX_LOGO_WIDTH = 240;
const MAX_LOGO_HEIGHT = 80;

function Sender({ name, logoHash, logoWidth, logoHeight }: Branding) {
  if (name === null && logoHash === null) return null;
  const scale = Math.min(1, MAX_LOGO_WIDTH / (logoWidth ?? 1), MAX_LOGO_HEIGHT / (logoHeight ?? 1));
  const size = (pixels: number | null) => Math.max(1, Math.round((pixels ?? 1) * scale));
  return (
    <header>
      {logoHash !== null && (
        // The name stands beside the logo, which therefore has no text of its own.
        <img src={logoPath(logoHash)} alt="" width={size(logoWidth)} height={size(logoHeight)} />
      )}
      {name !== null && <strong dir="auto">{name}</strong>}
    </header>
  );
}
