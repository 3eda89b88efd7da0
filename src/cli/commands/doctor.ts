/** `signalbox doctor`: looks at the Temporal server and the settings that gateway and worker would use. */
import { Option } from 'commander';
import { doctorLines } from '../doctor-lines.ts';
import { EXIT } from '../exit.ts';
import { jsonFlag } from '../options.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

export const addDoctor: AddCommand = (program, { terminal, exitWith }) => {
  program
    .command('doctor')
    .description('check the Temporal server and the settings of this machine; exit code 10 where something blocks')
    .addOption(new Option('--quiet', 'print only warnings and what blocks'))
    .addOption(jsonFlag())
    .action(async ({ json, quiet }: { json?: boolean; quiet?: boolean }) => {
      // It loads the client of Temporal, which other commands do not need.
      const { diagnose } = await import('../diagnose.ts');
      const findings = await diagnose(terminal.env);
      const shown =
        quiet === true ? findings.filter(({ level }) => level === 'warning' || level === 'blocks') : findings;
      if (json === true) terminal.out(formatJson(shown));
      else for (const line of shown.flatMap(doctorLines)) terminal.out(line);
      if (findings.some(({ level }) => level === 'blocks')) exitWith(EXIT.input);
    });
};
