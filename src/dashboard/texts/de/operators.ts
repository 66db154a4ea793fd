import type { operators as english } from '../en/operators.ts';

/** Texts of the page about the people who operate the installation. */
export const operators: typeof english = {
  title: 'Betreiber',
  text: 'Betreiber sehen und steuern die ganze Installation. Wer hier entfernt wird, bleibt Mitglied seiner Mandanten und wird gelöscht, wenn es keine gibt.',
  name: 'Name',
  email: 'E-Mail-Adresse',
  remove: 'Entfernen',
  invite: 'Link für einen weiteren Betreiber erzeugen',
};
