import { testExamples } from './test-examples.ts';

testExamples('stand-in');
