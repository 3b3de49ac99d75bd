/** `sandpit completion`: scripts with which shells complete commands and options. */
import { Argument, type Command } from 'commander';
import type { Output } from './output.js';

interface Word {
  readonly word: string;
  readonly description: string;
}

/** A command with the words that may follow it. */
interface Node {
  /** `clock advance`; empty for `sandpit` itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly Word[];
}

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export function addCompletion(program: Command, { write }: Output): void {
  program
    .command('completion')
    .description('Print a completion script: source <(sandpit completion bash)')
    .addArgument(new Argument('<shell>', 'the shell to print it for').choices(Object.keys(SHELLS)))
    .action((shell: keyof typeof SHELLS) => write(SHELLS[shell](nodesOf(program))));
}

function nodesOf(command: Command, path: readonly string[] = []): Node[] {
  const commands = command.commands.map((one) => ({ word: one.name(), description: one.description() }));
  const options = command.options.flatMap(({ long, description }) =>
    long === undefined ? [] : [{ word: long, description }],
  );
  return [
    { path: path.join(' '), commands, options },
    ...command.commands.flatMap((one) => nodesOf(one, [...path, one.name()])),
  ];
}

const wordsOf = ({ commands, options }: Node): string =>
  [...commands, ...options].map(({ word }) => word).join(' ');

function bashScript(nodes: readonly Node[]): string {
  const cases = nodes
    .filter(({ path }) => path !== '')
    .sort((a, b) => b.path.length - a.path.length)
    .map((node) => `    "${node.path}"*) words="${wordsOf(node)}" ;;`);
  const root = nodes.find(({ path }) => path === '');
  return `# bash: source <(sandpit completion bash)
_sandpit() {
  local words before="\${COMP_WORDS[*]:1:COMP_CWORD-1} "
  case "$before" in
${cases.map((line) => line.replace('"*)', ' "*)')).join('\n')}
    *) words="${root === undefined ? '' : wordsOf(root)}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sandpit sandpit
`;
}

function zshScript(nodes: readonly Node[]): string {
  return `# zsh: source <(sandpit completion zsh)
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bashScript(nodes)}`;
}

function fishScript(nodes: readonly Node[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;
  const lines = nodes.flatMap(({ path, commands, options }) => {
    const condition =
      path === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${path.split(' ').at(-1) ?? ''}`;
    return [
      ...commands.map(
        ({ word, description }) =>
          `complete -c sandpit -f -n '${condition}' -a ${word} -d ${quoted(description)}`,
      ),
      ...options.map(
        ({ word, description }) =>
          `complete -c sandpit -n '${condition}' -l ${word.slice(2)} -d ${quoted(description)}`,
      ),
    ];
  });
  return `# fish: sandpit completion fish | source\n${lines.join('\n')}\n`;
}
