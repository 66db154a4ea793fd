/**
 * Writes the confirmation mail that is sent when the audience names no template. It contains nothing that a person has typed
 * into a form, because anybody can send it to any address.
 */
import type { Language } from '../audiences/opt-in/settings.ts';
import type { Mailbox } from '../mail/address.ts';
import { renderTemplate } from '../templates/render.ts';

/** `sender` in a text stands for the name of the sender, `address` for the address of the reader. */
type Texts = {
  subject: string;
  ask: (sender: string, address: string) => string;
  button: string;
  validity: string;
  otherwise: string;
};

const TEXTS = {
  en: {
    subject: 'Please confirm your subscription',
    ask: (sender, address) =>
      `Somebody, hopefully you, has asked ${sender} to send mail to ${address}. Please confirm that you want it:`,
    button: 'Confirm my subscription',
    validity: 'The link is valid for 7 days.',
    otherwise:
      'If it was not you, you need not do anything. Without your confirmation you are not subscribed.',
  },
  de: {
    subject: 'Bitte bestätigen Sie Ihre Anmeldung',
    ask: (sender, address) =>
      `Jemand, hoffentlich Sie selbst, hat ${sender} gebeten, E-Mails an ${address} zu senden. Bitte bestätigen Sie, dass Sie das möchten:`,
    button: 'Anmeldung bestätigen',
    validity: 'Der Link ist 7 Tage gültig.',
    otherwise:
      'Wenn Sie das nicht waren, brauchen Sie nichts zu tun. Ohne Ihre Bestätigung sind Sie nicht angemeldet.',
  },
  fr: {
    subject: 'Veuillez confirmer votre inscription',
    ask: (sender, address) =>
      `Quelqu’un, vous-même nous l’espérons, a demandé à ${sender} d’envoyer des e-mails à ${address}. Veuillez confirmer que vous le souhaitez :`,
    button: 'Confirmer mon inscription',
    validity: 'Le lien est valable 7 jours.',
    otherwise:
      'Si ce n’était pas vous, vous n’avez rien à faire. Sans votre confirmation, vous n’êtes pas inscrit.',
  },
  es: {
    subject: 'Confirme su suscripción',
    ask: (sender, address) =>
      `Alguien, esperamos que usted, ha pedido a ${sender} que envíe correos a ${address}. Confirme que los quiere recibir:`,
    button: 'Confirmar mi suscripción',
    validity: 'El enlace es válido durante 7 días.',
    otherwise: 'Si no ha sido usted, no tiene que hacer nada. Sin su confirmación no queda suscrito.',
  },
} as const satisfies Record<Language, Texts>;

/** `clicktracking` keeps the link as it is, so that it leads to our page at once. */
const HTML = `<!doctype html>
<html lang="{{language}}">
<head><meta charset="utf-8"><title>{{subject}}</title></head>
<body style="font-family: sans-serif; line-height: 1.5; max-width: 34rem;">
<p>{{ask}}</p>
<p><a href="{{url}}" clicktracking="off" style="display: inline-block; padding: 0.6rem 1.2rem; border: 1px solid; border-radius: 0.3rem;">{{button}}</a></p>
<p>{{validity}}</p>
<p>{{otherwise}}</p>
</body>
</html>
`;
const TEXT = '{{ask}}\n\n{{url}}\n\n{{validity}} {{otherwise}}\n';

type Wanted = { language: Language; from: Mailbox; address: string; url: string };

/** Returns the content of the mail. Its sender is named by its display name, or by its domain. */
export function defaultMail({ language, from, address, url }: Wanted) {
  const { ask, ...texts } = TEXTS[language];
  const values = { ...texts, language, url, ask: ask(senderName(from), address) };
  return {
    subject: texts.subject,
    html: renderTemplate(HTML, values, { form: 'html', isMarketing: false }).text,
    text: renderTemplate(TEXT, values, { form: 'text', isMarketing: false }).text,
  };
}

/** Returns the name by which a reader knows a sender. */
export function senderName({ name, domain }: Pick<Mailbox, 'name' | 'domain'>): string {
  return name === undefined || name === '' ? domain : name;
}
