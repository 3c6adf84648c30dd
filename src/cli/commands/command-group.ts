import { CommandRunner } from 'nest-commander';

/** A command that only has subcommands, and shows its help when called without one. */
export abstract class CommandGroup extends CommandRunner {
  override async run(): Promise<void> {
    this.command.help();
  }
}
