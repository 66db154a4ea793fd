/** A person of tests with an authenticator app. */
import assert from 'node:assert/strict';
import { Secret, TOTP } from 'otpauth';
import type { Clock } from '../../src/system/clock.ts';
import { type Browser, PASSWORD } from './browser.ts';

type AuthenticatorApp = {
  /** Returns the code of this moment. */
  code(): string;
  secret: string;
  /** The recovery codes that were shown. */
  recoveryCodes: string[];
};

/** Switches one-time codes on for the person that is logged in. */
export async function switchTotpOn(browser: Browser, clock: Pick<Clock, 'now'>): Promise<AuthenticatorApp> {
  await browser.open('/account');
  const [, secret = ''] = /name="totpSecret" value="([A-Z2-7]{32})"/.exec(browser.page.html) ?? [];
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const code = () => totp.generate({ timestamp: clock.now() });
  await browser.submit('totpOn', { code: code(), password: PASSWORD });
  assert.match(browser.page.html, /One-time codes are on/);
  return { code, secret, recoveryCodes: recoveryCodesOn(browser) };
}

/** Returns the recovery codes that a page shows. */
export function recoveryCodesOn({ page }: Browser): string[] {
  return page.html.match(/\b(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}\b/g) ?? [];
}
