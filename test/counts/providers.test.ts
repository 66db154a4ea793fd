import assert from 'node:assert/strict';
import { test } from 'node:test';
import { providerOf, readProviders } from '../../src/counts/providers.ts';
import { readDataFile } from '../../src/data-files.ts';

test('an address belongs to the provider of its domain, and to no other for a domain that only looks like it', () => {
  for (const [address, provider] of [
    ['ada@gmail.com', 'gmail'],
    ['ada@googlemail.com', 'gmail'],
    ['ada@yahoo.co.uk', 'yahoo'],
    ['ada@aol.com', 'yahoo'],
    ['ada@hotmail.fr', 'microsoft'],
    ['ada@icloud.com', 'apple'],
    ['"a@gmail.com"@example.com', 'other'],
    ['ada@notgmail.com', 'other'],
    ['ada@gmail.com.example', 'other'],
    ['ada@example.com', 'other'],
    ['', 'other'],
  ] as const)
    assert.equal(providerOf(address), provider, address);
});

test('no domain stands twice in the file, and each is in lower case', () => {
  const { providers } = readDataFile('mail-providers.json') as { providers: { domains: string[] }[] };
  const domains = providers.flatMap((provider) => provider.domains);
  assert.equal(new Set(domains).size, domains.length);
  for (const domain of domains) assert.match(domain, /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/);
});

test('a file that names an unknown provider is refused', () => {
  assert.throws(
    () => readProviders([{ name: 'gmial', domains: ['gmail.com'] }]),
    /"gmial" is not one of gmail/,
  );
});
