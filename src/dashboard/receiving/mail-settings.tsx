/** The settings of a mailbox for mail programs, with the QR code of the link by which Apple devices set up the account. */
import type { Static } from 'typebox';
import type { Calls } from '../../http/json/calls.ts';
import type { settingsSchema } from '../../mailboxes/settings-api.ts';
import { Copyable, Facts } from '../frame/elements.tsx';
import { Table } from '../frame/lists.tsx';
import type { BaseContext } from '../page.ts';

/** Returns the section. `base` is the path of the mailbox in the API. */
export async function mailSettings(context: BaseContext & { api: Calls }, base: string) {
  const { mailSettings: texts } = context.texts;
  const settings = await context.api.get<Static<typeof settingsSchema>>(`${base}/settings`);
  const { default: qrcode } = await import('qrcode');
  const image = await qrcode.toDataURL(settings.profileUrl, { margin: 2 });
  return (
    <section aria-labelledby="settings">
      <h2 id="settings">{texts.title}</h2>
      <p>{texts.introduction}</p>
      <Facts
        facts={[
          [texts.username, <Copyable context={context} text={settings.username} />],
          [texts.host, <Copyable context={context} text={settings.host} />],
          [texts.password, texts.passwordText],
        ]}
      />
      <Table
        context={context}
        caption={texts.services}
        rows={settings.services}
        keyOf={({ protocol, security }) => `${protocol} ${security}`}
        columns={[
          { label: texts.service, cell: ({ protocol }) => texts.protocols[protocol] },
          { label: texts.security, cell: ({ security }) => texts.securities[security] },
          { label: texts.port, cell: ({ port }) => String(port), isNumeric: true },
        ]}
      />
      <h3>{texts.apple}</h3>
      <p>{texts.appleText}</p>
      <p>
        <img src={image} alt={texts.qrCode} width="200" height="200" />
      </p>
      <Copyable context={context} text={settings.profileUrl} />
    </section>
  );
}
