import type { mailSettings as english } from '../en/mail-settings.ts';

/** Texts about the settings of mail programs. */
export const mailSettings: typeof english = {
  title: 'Einstellungen für Mailprogramme',
  introduction: 'Die meisten Mailprogramme finden sie von selbst, sobald sie die Adresse kennen.',
  username: 'Benutzername',
  host: 'Server für alle Dienste',
  password: 'Passwort',
  passwordText: 'das Passwort des Postfachs oder ein App-Passwort',
  services: 'Dienste, die bevorzugten zuerst',
  service: 'Dienst',
  security: 'Verschlüsselung',
  port: 'Port',
  protocols: {
    imap: 'IMAP (Lesen)',
    pop3: 'POP3 (Abholen)',
    smtp: 'SMTP (Senden)',
    sieve: 'ManageSieve (Filter)',
  },
  securities: { tls: 'TLS von Anfang an', starttls: 'STARTTLS' },
  apple: 'iPhone, iPad und Mac',
  appleText:
    'Scannen Sie diesen Code mit der Kamera, oder öffnen Sie den Link auf dem Gerät. Er richtet das Konto ein und fragt nach dem Passwort.',
  qrCode: 'QR-Code des Links darunter',
};
