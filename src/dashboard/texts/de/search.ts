import type { search as english } from '../en/search.ts';

/** Texts of the search. */
export const search: typeof english = {
  title: 'Suche',
  help: 'Sie können eine ID, eine Message-ID, eine Adresse, eine Domain, ein Schlagwort wie kind:welcome, Wörter eines Betreffs oder den Namen einer Seite suchen.',
  nothing: 'Nichts gefunden für',
  resultsFor: 'Gefunden für',
  page: 'Seite',
  suppressed: 'ist gesperrt',
  contactIn: (audience) => `Kontakt in ${audience}`,
  newestAudiences: (count) => `Kontakte wurden in den neuesten ${count} Verteilern gesucht.`,
  emailsTo: 'E-Mails an diese Adresse',
  emailsFrom: 'E-Mails von dort',
  tagged: 'E-Mails mit diesem Schlagwort',
  email: 'E-Mail',
  received: 'empfangene Nachricht',
  subjects: 'E-Mails mit diesem Text im Betreff',
  allSubjects: (days) => `Die Betreffzeilen aller E-Mails der letzten ${days} Tage wurden durchsucht.`,
  someSubjects: (count) => `Die Betreffzeilen der neuesten ${count} E-Mails wurden durchsucht, zurück bis`,
  all: 'Alle anzeigen',
};
