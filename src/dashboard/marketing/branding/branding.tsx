/** The branding of a tenant: what the public pages show of the sender, its change, and the pages themselves. */
import type { ComponentChildren } from 'preact';
import { PREVIEWED_PAGES } from '../../../preferences/preview-api.tsx';
import { Facts, Foreign, Heading, Time } from '../../frame/elements.tsx';
import { ActionButton, Disclosure } from '../../frame/forms.tsx';
import { definePage, type TenantContext } from '../../page.ts';
import { BRANDING_UPLOAD, type Branding, BrandingForm, COLOURS, readBranding } from './form.tsx';
import { PREVIEW_FRAME, previewedPage, showPreview } from './preview.tsx';

export const brandingPage = definePage({
  area: 'tenant',
  path: '/branding',
  menu: { group: 'marketing', label: ({ branding }) => branding.title },
  upload: BRANDING_UPLOAD,
  async show(context) {
    const { branding: texts } = context.texts;
    const branding = await context.api.get<Branding>('/branding');
    return {
      title: texts.title,
      body: (
        <>
          <Heading title={texts.title} />
          <p>{texts.text}</p>
          {branding.updatedAt === null ? (
            <p class="empty">{texts.none}</p>
          ) : (
            <BrandingFacts context={context} branding={branding} />
          )}
          <Preview context={context} />
          {context.can('write') && (
            <section aria-labelledby="change">
              <h2 id="change">{texts.change}</h2>
              <BrandingForm context={context} branding={branding} />
              {branding.updatedAt !== null && <Removal context={context} />}
            </section>
          )}
        </>
      ),
    };
  },
  actions: {
    save: {
      logs: ['name', ...COLOURS, 'removeLogo'],
      async run(context, form) {
        await context.api.put('/branding', readBranding(form));
        return { to: context.path, said: 'saved' };
      },
    },
    preview: {
      isAudited: false,
      run: (context, form) => showPreview(context, readBranding(form)),
    },
    remove: {
      async run(context) {
        await context.api.delete('/branding');
        return { to: context.path, said: 'deleted' };
      },
    },
  },
});

type Props = { context: TenantContext; branding: Branding };

function BrandingFacts({ context, branding }: Props) {
  const { texts, formats } = context;
  const { branding: named, frame } = texts;
  const { name, logo, color, textColor, darkColor, darkTextColor, contrast, updatedAt } = branding;
  const facts: [string, ComponentChildren][] = [
    [named.name, name === null ? frame.none : <Foreign key="name" text={name} />],
    [
      named.logo,
      logo === null ? frame.none : named.pixels(formats.number(logo.width), formats.number(logo.height)),
    ],
  ];
  if (color === null || contrast === null) facts.push([named.light, named.standard]);
  else {
    const text = textColor ?? WHITE;
    const dark = { color: darkColor ?? color, text: darkTextColor ?? text };
    const shown = (ratio: number) => named.contrast(formats.number(ratio));
    facts.push([
      named.light,
      <Sample key="light" color={color} text={text} contrast={shown(contrast.light)} />,
    ]);
    facts.push([named.dark, <Sample key="dark" {...dark} contrast={shown(contrast.dark)} />]);
  }
  return (
    <Facts facts={[...facts, [named.updatedAt, <Time key="time" context={context} at={updatedAt} />]]} />
  );
}

/** Colour of a text for which the sender names none. */
const WHITE = '#ffffff';

/** A colour with its text. It is drawn, because pages have no styles of their own. */
function Sample({ color, text, contrast }: { color: string; text: string; contrast: string }) {
  return (
    <>
      <svg width="72" height="28" aria-hidden="true">
        <rect width="72" height="28" rx="4" fill={color} />
        <text x="36" y="19" text-anchor="middle" fill={text}>
          Abc
        </text>
      </svg>{' '}
      <code>{color}</code>, <code>{text}</code>: {contrast}
    </>
  );
}

function Preview({ context }: { context: TenantContext }) {
  const { branding } = context.texts;
  const present = previewedPage(context.query);
  return (
    <section aria-labelledby="preview">
      <h2 id="preview">{branding.preview}</h2>
      <nav class="tabs" aria-label={branding.pages}>
        <ul>
          {PREVIEWED_PAGES.map((page) => (
            <li key={page}>
              <a href={`?page=${page}`} aria-current={page === present ? 'true' : undefined}>
                {branding.pageNames[page]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <iframe
        class="preview"
        name={PREVIEW_FRAME}
        sandbox=""
        title={branding.preview}
        src={`${context.path}/preview?page=${present}`}
      />
    </section>
  );
}

function Removal({ context }: { context: TenantContext }) {
  const { branding } = context.texts;
  return (
    <Disclosure label={branding.removal} isOpen={context.failed?.action === 'remove'}>
      <p>{branding.removalText}</p>
      <ActionButton context={context} action="remove" submit={branding.removal} isDangerous />
    </Disclosure>
  );
}
