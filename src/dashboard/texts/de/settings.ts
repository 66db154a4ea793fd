import type { settings as english } from '../en/settings.ts';

/** Texts of the operator's page about the settings in effect. */
export const settings: typeof english = {
  title: 'Einstellungen',
  text: 'Die geltenden Einstellungen aus der Konfigurationsdatei und der Umgebung. Eine geänderte Datei gilt, sobald der Dienst neu startet.',
  file: 'Konfigurationsdatei',
  noFile: 'keine: Der Dienst wurde zur Entwicklung gestartet',
  key: 'Einstellung',
  value: 'Wert',
  source: 'Herkunft',
  sources: { default: 'Vorgabe', file: 'Datei', environment: 'Umgebung' },
  default: 'Vorgabe',
  secret: 'gesetzt, wird nicht angezeigt',
  empty: 'leer',
  section: 'Abschnitt',
  find: 'Name oder Beschreibung',
};
