/** Texts about the settings of mail programs. */
export const mailSettings = {
  title: 'Settings for mail programs',
  introduction: 'Most mail programs find these by themselves once they know the address.',
  username: 'User name',
  host: 'Server for all services',
  password: 'Password',
  passwordText: 'the password of the mailbox, or an app password',
  services: 'Services, the preferred ones first',
  service: 'Service',
  security: 'Encryption',
  port: 'Port',
  protocols: {
    imap: 'IMAP (reading)',
    pop3: 'POP3 (fetching)',
    smtp: 'SMTP (sending)',
    sieve: 'ManageSieve (filters)',
  },
  securities: { tls: 'TLS from the start', starttls: 'STARTTLS' },
  apple: 'iPhone, iPad and Mac',
  appleText:
    'Scan this code with the camera, or open the link on the device. It sets up the account and asks for the password.',
  qrCode: 'QR code of the link below',
};
