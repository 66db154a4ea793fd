/** The texts of the pages that say why another page is not shown, in the languages of their readers. */
import type { Language } from './language.ts';

/** `broken`: nothing is at the address. `unreadable`: the form cannot be read. `busy`: another attempt may succeed. `failed`: the server has a bug. */
export type ErrorKind = 'broken' | 'unreadable' | 'busy' | 'failed';

type Texts = Readonly<Record<ErrorKind, { title: string; message: string }>> & {
  /** Stands before the id of the request. */
  request: string;
};

const TEXTS = {
  en: {
    broken: {
      title: 'This link does not work',
      message:
        'It may be incomplete, or no longer valid. Please open it in the message once more. To stop receiving a newsletter, you can also use the unsubscribe button of your mail program, or reply to the message.',
    },
    unreadable: {
      title: 'That did not work',
      message: 'Your choice could not be read, and nothing has changed. Please go back and try again.',
    },
    busy: {
      title: 'Please try again',
      message: 'The server is busy at the moment. Please try again in a minute.',
    },
    failed: {
      title: 'Something went wrong',
      message: 'The server made a mistake. Please try again later.',
    },
    request: 'Request',
  },
  de: {
    broken: {
      title: 'Dieser Link funktioniert nicht',
      message:
        'Er ist vielleicht unvollständig oder nicht mehr gültig. Bitte öffnen Sie ihn noch einmal in der Nachricht. Einen Newsletter können Sie auch mit dem Knopf „Abmelden“ Ihres E-Mail-Programms oder durch eine Antwort auf die Nachricht abbestellen.',
    },
    unreadable: {
      title: 'Das hat nicht geklappt',
      message:
        'Ihre Auswahl konnte nicht gelesen werden, und nichts hat sich geändert. Bitte gehen Sie zurück und versuchen Sie es noch einmal.',
    },
    busy: {
      title: 'Bitte versuchen Sie es noch einmal',
      message: 'Der Server ist gerade ausgelastet. Bitte versuchen Sie es in einer Minute noch einmal.',
    },
    failed: {
      title: 'Etwas ist schiefgegangen',
      message: 'Der Server hat einen Fehler gemacht. Bitte versuchen Sie es später noch einmal.',
    },
    request: 'Anfrage',
  },
  fr: {
    broken: {
      title: 'Ce lien ne fonctionne pas',
      message:
        'Il est peut-être incomplet ou n’est plus valable. Veuillez l’ouvrir à nouveau dans le message. Pour ne plus recevoir une newsletter, vous pouvez aussi utiliser le bouton de désabonnement de votre messagerie ou répondre au message.',
    },
    unreadable: {
      title: 'Cela n’a pas fonctionné',
      message: 'Votre choix n’a pas pu être lu et rien n’a changé. Veuillez revenir en arrière et réessayer.',
    },
    busy: {
      title: 'Veuillez réessayer',
      message: 'Le serveur est occupé pour le moment. Veuillez réessayer dans une minute.',
    },
    failed: {
      title: 'Une erreur est survenue',
      message: 'Le serveur a fait une erreur. Veuillez réessayer plus tard.',
    },
    request: 'Requête',
  },
  es: {
    broken: {
      title: 'Este enlace no funciona',
      message:
        'Puede que esté incompleto o que ya no sea válido. Ábralo de nuevo en el mensaje. Para dejar de recibir un boletín, también puede usar el botón para darse de baja de su programa de correo o responder al mensaje.',
    },
    unreadable: {
      title: 'No ha funcionado',
      message: 'No se ha podido leer su elección y nada ha cambiado. Vuelva atrás e inténtelo de nuevo.',
    },
    busy: {
      title: 'Inténtelo de nuevo',
      message: 'El servidor está ocupado en este momento. Inténtelo de nuevo en un minuto.',
    },
    failed: {
      title: 'Algo ha salido mal',
      message: 'El servidor ha cometido un error. Inténtelo de nuevo más tarde.',
    },
    request: 'Petición',
  },
} as const satisfies Record<Language, Texts>;

/** Returns the texts of a language. */
export function errorTexts(language: Language): Texts {
  return TEXTS[language];
}
