import type { search as english } from '../en/search.ts';

/** Texts of the search. */
export const search: typeof english = {
  title: 'Suche',
  help: 'Sie können eine ID, eine Message-ID, eine Adresse, eine Domain, ein Tag wie kind:welcome oder den Namen einer Seite suchen.',
  nothing: 'Nichts gefunden für',
  resultsFor: 'Gefunden für',
  page: 'Seite',
  suppressed: 'ist gesperrt',
  contactIn: (audience) => `Kontakt in ${audience}`,
  emailsTo: 'E-Mails an diese Adresse',
  emailsFrom: 'E-Mails von dort',
  tagged: 'E-Mails mit diesem Tag',
  all: 'Alle anzeigen',
};
