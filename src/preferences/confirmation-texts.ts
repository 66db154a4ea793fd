/** The texts of the page behind the link of a confirmation mail, in the languages of its readers. */
import type { Language } from './language.ts';

/** `sender` in a text stands for the name of the sender, `address` for the masked address of the reader. */
type Texts = {
  title: string;
  ask: (address: string) => string;
  askFor: (sender: string, address: string) => string;
  confirm: string;
  otherwise: string;
  confirmed: (address: string) => string;
  gone: string;
  signUpAgain: string;
};

const TEXTS = {
  en: {
    title: 'Your subscription',
    ask: (address) => `Do you want to receive newsletters at ${address}?`,
    askFor: (sender, address) => `Do you want to receive mail from ${sender} at ${address}?`,
    confirm: 'Confirm',
    otherwise: 'If you did not ask for it, close this page. You are then not subscribed.',
    confirmed: (address) => `Thank you. The subscription of ${address} is confirmed.`,
    gone: 'This link is no longer valid.',
    signUpAgain: 'A link is valid for 7 days. If you still want to subscribe, please sign up again.',
  },
  de: {
    title: 'Ihre Anmeldung',
    ask: (address) => `Möchten Sie Newsletter an ${address} erhalten?`,
    askFor: (sender, address) => `Möchten Sie E-Mails von ${sender} an ${address} erhalten?`,
    confirm: 'Bestätigen',
    otherwise:
      'Wenn Sie nicht darum gebeten haben, schließen Sie diese Seite. Sie sind dann nicht angemeldet.',
    confirmed: (address) => `Vielen Dank. Die Anmeldung von ${address} ist bestätigt.`,
    gone: 'Dieser Link ist nicht mehr gültig.',
    signUpAgain:
      'Ein Link ist 7 Tage gültig. Wenn Sie sich noch anmelden möchten, tragen Sie sich bitte noch einmal ein.',
  },
  fr: {
    title: 'Votre inscription',
    ask: (address) => `Souhaitez-vous recevoir des newsletters à l’adresse ${address} ?`,
    askFor: (sender, address) => `Souhaitez-vous recevoir les e-mails de ${sender} à l’adresse ${address} ?`,
    confirm: 'Confirmer',
    otherwise: 'Si vous ne l’avez pas demandé, fermez cette page. Vous n’êtes alors pas inscrit.',
    confirmed: (address) => `Merci. L’inscription de ${address} est confirmée.`,
    gone: 'Ce lien n’est plus valable.',
    signUpAgain:
      'Un lien est valable 7 jours. Si vous souhaitez toujours vous inscrire, veuillez recommencer l’inscription.',
  },
  es: {
    title: 'Su suscripción',
    ask: (address) => `¿Quiere recibir boletines en ${address}?`,
    askFor: (sender, address) => `¿Quiere recibir correos de ${sender} en ${address}?`,
    confirm: 'Confirmar',
    otherwise: 'Si no lo ha pedido, cierre esta página. Entonces no queda suscrito.',
    confirmed: (address) => `Gracias. La suscripción de ${address} está confirmada.`,
    gone: 'Este enlace ya no es válido.',
    signUpAgain: 'Un enlace es válido durante 7 días. Si todavía quiere suscribirse, regístrese de nuevo.',
  },
} as const satisfies Record<Language, Texts>;

/** Returns the texts of a language. */
export function confirmationTexts(language: Language): Texts {
  return TEXTS[language];
}
