import type { tasks as english } from '../en/tasks.ts';

/** Texts of the operator's page about background work that has failed. */
export const tasks: typeof english = {
  title: 'Fehlgeschlagene Aufgaben',
  text: 'Hintergrundaufgaben werden von selbst wiederholt. Hier steht, was endgültig fehlgeschlagen ist: Beheben Sie den Grund und starten Sie die Aufgabe erneut, oder verwerfen Sie sie.',
  none: 'Keine Aufgabe ist fehlgeschlagen.',
  kind: 'Art',
  reference: 'Betrifft',
  tenant: 'Mandant',
  attempts: 'Versuche',
  error: 'Grund',
  retry: 'Erneut starten',
  discard: 'Verwerfen',
  discardText: 'Die Aufgabe wird vergessen. Was sie tun sollte, geschieht nie.',
};
