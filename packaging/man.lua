-- SPDX-License-Identifier: GPL-2.0-or-later
-- Makes a page of the documentation one of the manual, in pandoc: `about` and `see-also` are its metadata.

-- A table is too narrow for sentences on a terminal: a list of its first column, with the last one below each
-- entry, and those between named.
function Table(block)
  local simple = pandoc.utils.to_simple_table(block)
  local entries = {}
  for _, row in ipairs(simple.rows) do
    local text = pandoc.List()
    for column = 2, #row do
      local cell = pandoc.utils.blocks_to_inlines(row[column])
      if #cell > 0 and column < #row then
        text:insert(pandoc.Str(pandoc.utils.stringify(simple.headers[column]) .. ': '))
        cell:insert(pandoc.RawInline('man', '\n.br\n')) -- pandoc's own LineBreak ends the entry
      end
      text:extend(cell)
    end
    table.insert(entries, {pandoc.utils.blocks_to_inlines(row[1]), {{pandoc.Plain(text)}}})
  end
  return pandoc.DefinitionList(entries)
end

-- Bold in every version of pandoc, and on terminals. What is longer than a line may be broken after a comma.
function Code(code)
  local parts = pandoc.List()
  for part in code.text:gmatch('[^,]+,?') do
    if #parts > 0 then
      parts:insert(pandoc.RawInline('man', '\\:'))
    end
    parts:insert(pandoc.Str(part))
  end
  return pandoc.Strong(parts)
end

-- Addresses are those of files that are elsewhere, or nowhere, when the page is read.
function Link(link)
  return link.content
end

-- `.SH` for what has `##`: the title has become the page's.
function Header(header)
  local text = pandoc.utils.stringify(header)
  return pandoc.Header(header.level - 1, {pandoc.Str(header.level == 2 and text:upper() or text)})
end

function Pandoc(page)
  local title = page.blocks:remove(1)
  assert(title.t == 'Header' and title.level == 0, 'a page begins with its title')
  if page.blocks[1].t ~= 'Header' then
    page.blocks:insert(1, pandoc.Header(1, {pandoc.Str('DESCRIPTION')}))
  end
  -- What is long and has no blanks cannot be adjusted, and a key is typed as it stands.
  page.blocks:insert(1, pandoc.RawBlock('man', '.ad l\n.nh'))
  local name = pandoc.utils.stringify(page.meta.title) .. ' - ' .. pandoc.utils.stringify(page.meta.about)
  page.blocks:insert(2, pandoc.Header(1, {pandoc.Str('NAME')}))
  page.blocks:insert(3, pandoc.Plain({pandoc.Str(name)}))
  page.blocks:insert(pandoc.Header(1, {pandoc.Str('SEE ALSO')}))
  page.blocks:insert(pandoc.Plain({pandoc.Str(pandoc.utils.stringify(page.meta['see-also']))}))
  return page
end
