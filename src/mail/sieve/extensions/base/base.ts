/** The base language, which needs no `require` (RFC 5228). */
import { BASE, type Extension } from '../../compile/definition.ts';
import { ASCII_CASEMAP, OCTET } from '../../match/comparator.ts';
import { ACTIONS } from './actions.ts';
import { REQUIRE, STOP } from './control.ts';
import { LOGIC } from './logic.ts';
import { MESSAGE_TESTS } from './message-tests.ts';

export const BASE_LANGUAGE: Extension = {
  name: BASE,
  commands: [REQUIRE, STOP, ...ACTIONS],
  comparators: [OCTET, ASCII_CASEMAP],
  tests: [...LOGIC, ...MESSAGE_TESTS],
};
