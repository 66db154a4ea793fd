/** The peers of these tests, as Debian packages; each test starts its own. */
import { installPackages } from '../support/debian.ts';

/** A package, and the program that shows it is there. */
const PACKAGES = {
  aerc: '/usr/bin/aerc',
  age: '/usr/bin/age',
  alpine: '/usr/bin/alpine',
  bind9: '/usr/sbin/named',
  'bind9-dnsutils': '/usr/bin/dig',
  caddy: '/usr/bin/caddy',
  chromium: '/usr/bin/chromium',
  'dante-server': '/usr/sbin/danted',
  fish: '/usr/bin/fish',
  fetchmail: '/usr/bin/fetchmail',
  getmail6: '/usr/bin/getmail',
  haproxy: '/usr/sbin/haproxy',
  isync: '/usr/bin/mbsync',
  // Cyrus SASL, by which mbsync logs in, has SCRAM there.
  'libsasl2-modules': '/usr/share/doc/libsasl2-modules/copyright',
  // Postfix checks the logins of clients with the database that saslpasswd2 writes.
  'libsasl2-modules-db': '/usr/share/doc/libsasl2-modules-db/copyright',
  'sasl2-bin': '/usr/sbin/saslpasswd2',
  mpop: '/usr/bin/mpop',
  mutt: '/usr/bin/mutt',
  neomutt: '/usr/bin/neomutt',
  'nginx-light': '/usr/sbin/nginx',
  offlineimap3: '/usr/bin/offlineimap',
  curl: '/usr/bin/curl',
  knot: '/usr/sbin/knotd',
  'groff-base': '/usr/bin/groff',
  'knot-dnsutils': '/usr/bin/kdig',
  ldnsutils: '/usr/bin/drill',
  // Exim needs it, which exim.ts unpacks.
  libidn12: '/usr/share/doc/libidn12/copyright',
  // swaks needs it for TLS.
  'libnet-ssleay-perl': '/usr/share/doc/libnet-ssleay-perl/copyright',
  postfix: '/usr/lib/postfix/sbin/master',
  // The tests use its tool alone.
  prometheus: '/usr/bin/promtool',
  python3: '/usr/bin/python3',
  // Logins by SCRAM-SHA-256-PLUS: GNU SASL, with a TLS that tells its channel binding.
  libgsasl18: '/usr/share/doc/libgsasl18/copyright',
  'python3-openssl': '/usr/lib/python3/dist-packages/OpenSSL/__init__.py',
  rsync: '/usr/bin/rsync',
  rspamd: '/usr/bin/rspamd',
  'sieve-connect': '/usr/bin/sieve-connect',
  spamassassin: '/usr/bin/spamassassin',
  opendkim: '/usr/sbin/opendkim',
  msmtp: '/usr/bin/msmtp',
  openssl: '/usr/bin/openssl',
  pebble: '/usr/bin/pebble',
  swaks: '/usr/bin/swaks',
  strace: '/usr/bin/strace',
  systemd: '/usr/bin/systemd-analyze',
  thunderbird: '/usr/bin/thunderbird',
  unbound: '/usr/sbin/unbound',
  zsh: '/usr/bin/zsh',
};

/** @throws Error with a sentence for a person when this machine cannot run the tests */
export function installPeers(): void {
  if (process.getuid?.() !== 0) {
    throw new Error('the interop tests start a real Postfix, which needs root: run them as root');
  }
  const lacking = installPackages(PACKAGES);
  if (lacking !== undefined) throw new Error(`the interop tests cannot run: ${lacking}`);
}
