import type { topics as english } from '../en/topics.ts';

/** Texts of the pages about topics. */
export const topics: typeof english = {
  title: 'Themen',
  none: 'Noch keine Themen. Ein Thema ist eine Art von Mail, etwa Neuigkeiten, die man abbestellen kann, ohne alles abzubestellen.',
  name: 'Name',
  nameHelp: 'Nur für Sie; Leser sehen ihn nicht.',
  description: 'Beschreibung',
  descriptionHelp: 'Leser sehen sie auf der Seite ihrer Einstellungen.',
  defaultOptIn: 'Wer nichts entschieden hat, erhält diese Mail',
  isDefault: 'Von sich aus',
  created: 'Angelegt',
  create: 'Thema anlegen',
  deletion: 'Thema löschen',
  deletionText:
    'Das Thema wird mit allen Entscheidungen dazu gelöscht. Schon angenommene Mail wird noch gesendet. Entwürfe von Rundmails, die es nennen, brauchen ein anderes.',
};
