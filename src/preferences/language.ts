/** The texts of the public pages in the languages of their readers. */
import { preferredLanguage } from '../http/pages/accept-language.ts';

export type Language = keyof typeof TEXTS;

/** `topic` in a text stands for the name of a topic, `address` for the masked address of the reader. */
type Texts = {
  title: string;
  /** Title of the page once the reader has left. */
  unsubscribed: string;
  askTopic: (topic: string, address: string) => string;
  askAll: (address: string) => string;
  unsubscribe: string;
  leftTopic: (topic: string, address: string) => string;
  leftAll: (address: string) => string;
  alreadyTopic: (topic: string, address: string) => string;
  alreadyAll: (address: string) => string;
  returned: (address: string) => string;
  saved: (address: string) => string;
  choose: string;
  topics: string;
  save: string;
  leaveAll: string;
  comeBack: string;
  otherMail: string;
};

const TEXTS = {
  en: {
    title: 'Your subscriptions',
    unsubscribed: 'You are unsubscribed',
    askTopic: (topic, address) => `Do you want to stop receiving mail about “${topic}” at ${address}?`,
    askAll: (address) => `Do you want to stop receiving newsletters at ${address}?`,
    unsubscribe: 'Unsubscribe',
    leftTopic: (topic, address) => `You will no longer receive mail about “${topic}” at ${address}.`,
    leftAll: (address) => `You will no longer receive newsletters at ${address}.`,
    alreadyTopic: (topic, address) =>
      `You have unsubscribed already: you receive no mail about “${topic}” at ${address}.`,
    alreadyAll: (address) => `You have unsubscribed already: you receive no newsletters at ${address}.`,
    returned: (address) => `Welcome back. You will receive this mail at ${address} again.`,
    saved: (address) => `Your choices for ${address} are saved.`,
    choose: 'Choose what you receive',
    topics: 'What you receive',
    save: 'Save',
    leaveAll: 'Unsubscribe from everything',
    comeBack: 'Subscribe again',
    otherMail: 'Mail that you need, such as receipts, is not affected.',
  },
  de: {
    title: 'Ihre Abonnements',
    unsubscribed: 'Sie sind abgemeldet',
    askTopic: (topic, address) => `Möchten Sie keine E-Mails zu „${topic}“ mehr an ${address} erhalten?`,
    askAll: (address) => `Möchten Sie keine Newsletter mehr an ${address} erhalten?`,
    unsubscribe: 'Abmelden',
    leftTopic: (topic, address) => `Sie erhalten keine E-Mails zu „${topic}“ mehr an ${address}.`,
    leftAll: (address) => `Sie erhalten keine Newsletter mehr an ${address}.`,
    alreadyTopic: (topic, address) =>
      `Sie haben sich bereits abgemeldet: Sie erhalten keine E-Mails zu „${topic}“ an ${address}.`,
    alreadyAll: (address) =>
      `Sie haben sich bereits abgemeldet: Sie erhalten keine Newsletter an ${address}.`,
    returned: (address) => `Willkommen zurück. Sie erhalten diese E-Mails wieder an ${address}.`,
    saved: (address) => `Ihre Auswahl für ${address} ist gespeichert.`,
    choose: 'Auswählen, was Sie erhalten',
    topics: 'Was Sie erhalten',
    save: 'Speichern',
    leaveAll: 'Von allem abmelden',
    comeBack: 'Wieder anmelden',
    otherMail: 'Notwendige E-Mails wie Rechnungen sind davon nicht betroffen.',
  },
  fr: {
    title: 'Vos abonnements',
    unsubscribed: 'Vous êtes désabonné',
    askTopic: (topic, address) => `Ne plus recevoir d’e-mails sur « ${topic} » à l’adresse ${address} ?`,
    askAll: (address) => `Ne plus recevoir de newsletters à l’adresse ${address} ?`,
    unsubscribe: 'Se désabonner',
    leftTopic: (topic, address) => `Vous ne recevrez plus d’e-mails sur « ${topic} » à l’adresse ${address}.`,
    leftAll: (address) => `Vous ne recevrez plus de newsletters à l’adresse ${address}.`,
    alreadyTopic: (topic, address) =>
      `Vous êtes déjà désabonné : vous ne recevez pas d’e-mails sur « ${topic} » à l’adresse ${address}.`,
    alreadyAll: (address) =>
      `Vous êtes déjà désabonné : vous ne recevez pas de newsletters à l’adresse ${address}.`,
    returned: (address) => `Bienvenue. Vous recevrez de nouveau ces e-mails à l’adresse ${address}.`,
    saved: (address) => `Vos choix pour ${address} sont enregistrés.`,
    choose: 'Choisir ce que vous recevez',
    topics: 'Ce que vous recevez',
    save: 'Enregistrer',
    leaveAll: 'Se désabonner de tout',
    comeBack: 'Se réabonner',
    otherMail: 'Les e-mails nécessaires, comme les reçus, ne sont pas concernés.',
  },
  es: {
    title: 'Sus suscripciones',
    unsubscribed: 'Se ha dado de baja',
    askTopic: (topic, address) => `¿Quiere dejar de recibir correos sobre «${topic}» en ${address}?`,
    askAll: (address) => `¿Quiere dejar de recibir boletines en ${address}?`,
    unsubscribe: 'Darse de baja',
    leftTopic: (topic, address) => `Ya no recibirá correos sobre «${topic}» en ${address}.`,
    leftAll: (address) => `Ya no recibirá boletines en ${address}.`,
    alreadyTopic: (topic, address) =>
      `Ya se ha dado de baja: no recibe correos sobre «${topic}» en ${address}.`,
    alreadyAll: (address) => `Ya se ha dado de baja: no recibe boletines en ${address}.`,
    returned: (address) => `Le damos la bienvenida. Volverá a recibir estos correos en ${address}.`,
    saved: (address) => `Sus preferencias para ${address} se han guardado.`,
    choose: 'Elegir lo que recibe',
    topics: 'Lo que recibe',
    save: 'Guardar',
    leaveAll: 'Darse de baja de todo',
    comeBack: 'Suscribirse de nuevo',
    otherMail: 'Los correos necesarios, como los recibos, no se ven afectados.',
  },
} as const satisfies Record<string, Texts>;

/** The languages of the public pages. */
export const LANGUAGES = Object.keys(TEXTS) as Language[];

/**
 * Returns the language that a reader prefers (RFC 9110 section 12.5.4); English when none of ours is named.
 */
export function chooseLanguage(acceptLanguage = ''): Language {
  return preferredLanguage(acceptLanguage, isLanguage) ?? 'en';
}

function isLanguage(name: string): name is Language {
  return Object.hasOwn(TEXTS, name);
}

/** Returns the texts of a language. */
export function textsOf(language: Language): Texts {
  return TEXTS[language];
}
