import type { passkeys as english } from '../en/passkeys.ts';

/** Texts about passkeys, before and after logging in. */
export const passkeys: typeof english = {
  title: 'Passkeys',
  caption: 'Passkeys, die Sie anmelden',
  text: 'Ein Passkey Ihres Geräts oder ein Sicherheitsschlüssel meldet Sie ohne Passwort an oder ersetzt einen Einmalcode.',
  needScript: 'Passkeys brauchen JavaScript.',
  needName:
    'Passkeys gehören zum Namen eines Hosts. Öffnen Sie diese Seite unter einem Namen statt unter einer Adresse, etwa unter localhost.',
  name: 'Name des Passkeys',
  nameHelp: 'Daran erkennen Sie ihn, etwa „Laptop im Büro“',
  add: 'Passkey hinzufügen',
  change: 'Ändern',
  remove: 'Entfernen',
  removeText:
    'Er meldet niemanden mehr an, und alle anderen Sitzungen enden. Löschen Sie ihn auch auf Ihrem Gerät.',
  use: 'Passkey verwenden',
  instead: 'Oder ohne Code',
  enter: 'Mit einem Passkey weiter',
  enterText:
    'Oder wählen Sie kein Passwort, und melden Sie sich mit einem Passkey dieses Geräts oder einem Sicherheitsschlüssel an.',
  failed:
    'Der Browser hat keinen Passkey geliefert. Versuchen Sie es noch einmal, oder melden Sie sich anders an.',
  first: 'Erster Passkey',
};
