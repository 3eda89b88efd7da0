/** What is legal and probably not meant: `&&` and `||` mixed without parentheses, braces of templates in expressions. */
import { bracedStrings, mixedLogic } from '../template/lint.ts';
import { type Findings, problem, type Subject } from './subject.ts';

export function checkLint({ readings }: Subject, { warnings }: Findings): void {
  for (const reading of readings) {
    for (const { expression, at } of reading.expressions) {
      for (const column of mixedLogic(expression)) {
        warnings.push(
          problem(
            at,
            'mixed_logic',
            `Column ${column}: && and || bind alike here, from left to right.`,
            'Say with parentheses what belongs together.',
          ),
        );
      }
      for (const column of bracedStrings(expression)) {
        warnings.push(
          problem(
            at,
            'template_in_expression',
            `Column ${column}: the braces in this text stay as they are; nothing is put into it.`,
            'Join texts with +.',
          ),
        );
      }
    }
  }
}
