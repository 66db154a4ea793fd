import type { branding as english } from '../en/branding.ts';

/** Texts of the page about the branding of the public pages. */
export const branding: typeof english = {
  title: 'Erscheinungsbild',
  text: 'Was Leser auf den Seiten hinter den Links Ihrer Mail von Ihnen sehen: beim Abmelden, bei den Einstellungen und bei Bestätigungen. Live- und Test-Modus teilen es.',
  none: 'Noch ist nichts festgelegt: Die Seiten nennen keinen Absender und haben die üblichen Farben.',
  name: 'Name',
  nameHelp: 'Steht oben auf den Seiten. Höchstens 100 Zeichen.',
  color: 'Farbe',
  textColor: 'Text auf der Farbe',
  darkColor: 'Farbe auf dunklen Seiten',
  darkTextColor: 'Text auf der Farbe dunkler Seiten',
  colourHelp: {
    color:
      'Des Kopfes und der wichtigsten Schaltflächen, geschrieben als #rrggbb. Leer: die üblichen Farben.',
    textColor: 'Leer: weiß. Der Kontrast muss mindestens 4,5 zu 1 betragen.',
    darkColor: 'Für Leser, die dunkle Seiten bevorzugen. Leer: die Farbe oben.',
    darkTextColor: 'Leer: der Text oben.',
  },
  light: 'Farben',
  dark: 'Farben auf dunklen Seiten',
  standard: 'die üblichen Farben',
  contrast: (ratio) => `Kontrast ${ratio} zu 1`,
  logo: 'Logo',
  logoHelp: (bytes, pixels) =>
    `PNG, JPEG, GIF oder unbewegtes WebP mit höchstens ${bytes} und ${pixels} Pixeln. Es wird als PNG mit höchstens 480 × 160 Pixeln neu geschrieben. Ohne Datei bleibt das Logo, wie es ist.`,
  pixels: (width, height) => `${width} × ${height} Pixel`,
  removeLogo: 'Logo entfernen',
  updatedAt: 'Geändert',
  change: 'Erscheinungsbild ändern',
  preview: 'Vorschau',
  showPreview: 'Oben als Vorschau zeigen',
  pages: 'Öffentliche Seiten',
  pageNames: { unsubscribe: 'Abmelden', preferences: 'Einstellungen', confirmation: 'Bestätigung' },
  removal: 'Erscheinungsbild entfernen',
  removalText:
    'Name, Farben und Logo werden entfernt. Die Seiten nennen dann keinen Absender und haben die üblichen Farben.',
};
