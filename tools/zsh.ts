import type {CommandNode, CompletionData, OptionNode, Values} from './command-tree.ts';
import {fillIn} from './fill-in.ts';
import {allCommands, nameOf} from './walk-tree.ts';

/** The completion script for zsh: the template with a function for each command. */
export function zshCompletion(
  {program, globalOptions, mediaExtensions}: CompletionData,
  template: string,
): string {
  return fillIn(template, {
    GLOBALS: globalOptions
      .flatMap(optionSpecs)
      .map(spec => `    ${spec}`)
      .join('\n'),
    COMMANDS: allCommands(program).map(commandFunction).join('\n\n'),
    EXTENSIONS: mediaExtensions.join('|'),
  });
}

function commandFunction(command: CommandNode): string {
  const specs = [...command.options.flatMap(optionSpecs), ...argumentSpecs(command)]
    .map(spec => ` \\\n    ${spec}`)
    .join('');
  const head = `${functionName(command)}() {\n`;
  if (command.commands.length === 0) return `${head}  _arguments -s -S $_media_globals${specs}\n}`;
  return `${head}  local curcontext=$curcontext state
  local -a line
  _arguments -C -s -S $_media_globals${specs} \\
    '(-): :->command' \\
    '(-)*:: :->arguments'
  case $state in
    command)
      local -a commands=(
${command.commands.map(child => `        ${quoted(`${nameOf(child)}:${colons(child.description)}`)}`).join('\n')}
      )
      _describe -t commands command commands
      ;;
    arguments)
      curcontext="\${curcontext%:*:*}:media-$words[1]:"
      case $words[1] in
${command.commands.map(child => `        ${nameOf(child)}) ${functionName(child)} ;;`).join('\n')}
      esac
      ;;
  esac
}`;
}

function functionName({path}: CommandNode): string {
  return ['_media', ...(path.length === 0 ? ['program'] : path)].join('_');
}

/** A spec of _arguments for each name of an option; one name excludes the other unless the option may be repeated. */
function optionSpecs({names, description, value, repeatable}: OptionNode): string[] {
  const excluded = repeatable ? '*' : names.length > 1 ? `(${names.join(' ')})` : '';
  return names.map(name => {
    const mark = value === undefined ? '' : name.startsWith('--') ? '=' : '+';
    const taken = value === undefined ? '' : `:${colons(value.placeholder)}:${action(value.values)}`;
    return quoted(`${excluded}${name}${mark}[${brackets(description)}]${taken}`);
  });
}

function argumentSpecs(command: CommandNode): string[] {
  return command.arguments.map(({name, variadic, values}, index) =>
    quoted(`${variadic ? '*' : index + 1}:${colons(name)}:${action(values)}`),
  );
}

function action(values: Values): string {
  switch (values.kind) {
    case 'words':
      return `(${values.words.join(' ')})`;
    case 'file':
      return '_files';
    case 'directory':
      return '_files -/';
    case 'media':
      return '_media_files';
    case 'profile':
      return '_media_profiles';
    case 'none':
      return ' ';
  }
}

function colons(text: string): string {
  return text.replaceAll(':', '\\:');
}

function brackets(text: string): string {
  return text.replace(/[[\]\\]/g, '\\$&');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
