/** The frame of the public pages: the sender, by logo and name, above the content. A page without a known sender has no heading. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type ColourPairs, pairsOf } from '../branding/colours.ts';
import { logoPath, stylesheetPath } from '../branding/paths.ts';
import { type Branding, NO_BRANDING } from '../branding/store.ts';
import { Page } from '../http/pages/page.tsx';
import type { Language } from './language.ts';
import { brandStylesheet, STYLESHEET, STYLESHEET_PATH } from './stylesheet.ts';

type PublicPageProps = {
  language: Language;
  title: string;
  /** Undefined where the sender is not known. */
  branding?: Branding | undefined;
  children: ComponentChildren;
};

/** Returns a page in the colours of the sender. */
export function PublicPage({ language, title, branding = NO_BRANDING, children }: PublicPageProps) {
  return (
    <Page title={title} lang={language} head={<Styles pairs={pairsOf(branding)} />}>
      <Sender {...branding} />
      <main>
        <h1>{title}</h1>
        {children}
      </main>
    </Page>
  );
}

/** A page that has in itself what it otherwise loads: its styles, and the logo, whose bytes are here. Such a page can be shown anywhere. */
export const Alone = createContext<{ logo: Uint8Array | null } | undefined>(undefined);

/** A frame has no background of its own, and shows that of the page around it, whose colours may be others. */
const BACKDROP = 'html { background: Canvas; color: CanvasText; }\n';

function Styles({ pairs }: { pairs: ColourPairs | undefined }) {
  if (useContext(Alone))
    return (
      <style>
        {STYLESHEET}
        {BACKDROP}
        {pairs && brandStylesheet(pairs)}
      </style>
    );
  return (
    <>
      <link rel="stylesheet" href={STYLESHEET_PATH} />
      {pairs && <link rel="stylesheet" href={stylesheetPath(pairs)} />}
    </>
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
      {logoHash !== null && <Logo hash={logoHash} width={size(logoWidth)} height={size(logoHeight)} />}
      {name !== null && <strong dir="auto">{name}</strong>}
    </header>
  );
}

function Logo({ hash, width, height }: { hash: string; width: number; height: number }) {
  const alone = useContext(Alone);
  const address = alone
    ? `data:image/png;base64,${Buffer.from(alone.logo ?? []).toString('base64')}`
    : logoPath(hash);
  // The name stands beside the logo, which therefore has no text of its own.
  return <img src={address} alt="" width={width} height={height} />;
}
