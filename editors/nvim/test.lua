-- A real client in front of the language server: `editors/nvim/test.sh`. Neovim 0.7 and newer.
local command = vim.env.ROUNDONCE
local failures = 0

local function say(...)
  io.stdout:write(table.concat({ ... }, " "), "\n")
end

local function check(what, ok, seen)
  say(ok and "ok  " or "FAIL", what .. ":", vim.inspect(seen):gsub("%s+", " "):sub(1, 300))
  failures = failures + (ok and 0 or 1)
end

-- Opens a file and waits until the server has said what is wrong with it.
local function open(path, filetype)
  vim.cmd("edit " .. path)
  local buffer = vim.api.nvim_get_current_buf()
  local id = vim.lsp.start_client({
    name = "roundonce",
    cmd = { command, "lsp" },
    root_dir = vim.fn.fnamemodify(path, ":p:h"),
    get_language_id = function() return filetype end,
  })
  local published = 0
  local client = vim.lsp.get_client_by_id(id)
  client.handlers["textDocument/publishDiagnostics"] = function(...)
    vim.lsp.handlers["textDocument/publishDiagnostics"](...)
    published = published + 1
  end
  vim.lsp.buf_attach_client(buffer, id)
  local seen = 0
  -- Waits for the diagnostics of a text that was opened or changed.
  local function settled()
    local ok = vim.wait(20000, function() return published > seen end, 5)
    seen = published
    if not ok then error("no diagnostics came") end
  end
  return { buffer = buffer, client = client, settled = settled }
end

-- The place of a text: the cursor goes there.
local function go(text, offset)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  local row, column = unpack(vim.fn.searchpos("\\V" .. text:gsub("\\", "\\\\"), "cW"))
  if row == 0 then error("there is no " .. text) end
  vim.api.nvim_win_set_cursor(0, { row, column - 1 + (offset or 0) })
end

local function ask(method, extra)
  local params = vim.tbl_extend("force", vim.lsp.util.make_position_params(), extra or {})
  local answers, problem = vim.lsp.buf_request_sync(0, method, params, 20000)
  if not answers then error(method .. ": " .. tostring(problem)) end
  for _, answer in pairs(answers) do
    if answer.err then error(method .. ": " .. answer.err.message) end
    return answer.result
  end
end

local function everything()
  return { start = { line = 0, character = 0 }, ["end"] = { line = vim.api.nvim_buf_line_count(0), character = 0 } }
end

local function words()
  return vim.tbl_map(function(item) return item.label end, ask("textDocument/completion").items)
end

local function messages()
  return vim.tbl_map(function(found) return found.code .. " " .. found.message:gsub("\n.*", "") end, vim.diagnostic.get(0))
end

local function ptx(folder)
  local file = open(folder .. "/axpy.ptx", "ptx")
  file.settled()
  check("diagnostics name the product and the sum", vim.diagnostic.get(0)[1].code == "PTX0050", messages())

  go("fma.rz", 1)
  local hover = ask("textDocument/hover").contents.value
  check("hover says the form and its meaning", hover:find("rounded once toward zero", 1, true) and hover:find("PTX ISA", 1, true), hover)
  go("0f3F800000", 2)
  hover = ask("textDocument/hover").contents.value
  check("hover says the bits of a number", hover:find("exponent 01111111", 1, true), hover)

  go("$L_end;", 1)
  vim.lsp.buf.definition()
  vim.wait(5000, function() return vim.api.nvim_get_current_line() == "$L_end:" end, 5)
  check("definition leads to the label", vim.api.nvim_get_current_line() == "$L_end:", vim.api.nvim_get_current_line())
  go("%f4, 0.1", 1)
  vim.lsp.buf.definition()
  vim.wait(5000, function() return vim.api.nvim_get_current_line():find(".reg .f32", 1, true) end, 5)
  check("and to the register's declaration", vim.api.nvim_get_current_line():find(".reg .f32", 1, true), vim.api.nvim_get_current_line())

  local hints = ask("textDocument/inlayHint", { range = everything() })
  check("inlay hints stand at the product and at the sum", hints[1].label == "may be fused with line 13" and hints[2].label == "may be fused with line 12", vim.tbl_map(function(hint) return { hint.position.line + 1, hint.label } end, hints))
  local tokens = ask("textDocument/semanticTokens/full").data
  check("semantic tokens", #tokens > 100 and #tokens % 5 == 0, #tokens / 5)

  -- The edit that decides the open bits, applied to the buffer by the client.
  go("add.f32", 1)
  local params = { range = everything(), context = { diagnostics = {} } }
  local action = ask("textDocument/codeAction", params)[1]
  vim.lsp.util.apply_workspace_edit(action.edit, file.client.offset_encoding)
  file.settled()
  check("a code action settles it: " .. action.title, vim.fn.search("add.rn.f32", "cw") > 0 and #vim.diagnostic.get(0) == 0, vim.api.nvim_get_current_line())

  -- Typed behind the character that has two units: the place is counted as the client counts it.
  vim.api.nvim_buf_set_lines(file.buffer, -2, -2, false, { "\t/* 𝄞 */ fma.rx.f32 %f1, %f2, %f3, %f4;" })
  file.settled()
  local found = vim.diagnostic.get(0)[1]
  local line = vim.api.nvim_buf_get_lines(file.buffer, found.lnum, found.lnum + 1, false)[1]
  local word = line:sub(found.col + 1, found.end_col)
  check("a diagnostic as one types, at its word", word == ".rx" or word == "fma.rx.f32", { word, messages() })

  vim.fn.setline(found.lnum + 1, "\tfma.rz.")
  vim.api.nvim_win_set_cursor(0, { found.lnum + 1, 7 })
  vim.cmd("startinsert!")
  file.settled()
  vim.api.nvim_win_set_cursor(0, { found.lnum + 1, 8 })
  local offered = words()
  check("completion offers the modifiers that may follow", vim.tbl_contains(offered, "ftz") and not vim.tbl_contains(offered, "rn"), offered)
  vim.cmd("stopinsert")
  vim.cmd("bwipeout!")
end

local function spirv(folder)
  local file = open(folder .. "/fma.spvasm", "spirv")
  file.settled()
  check("SPIR-V: diagnostics", #vim.diagnostic.get(0) > 0, messages())
  go("OpFmaKHR %float", 2)
  local hover = ask("textDocument/hover").contents.value
  check("SPIR-V: hover", hover:find("SPV_KHR_fma, OpFmaKHR", 1, true), hover)
  go("%product %x", 2)
  vim.lsp.buf.definition()
  vim.wait(5000, function() return vim.api.nvim_get_current_line():find("OpFMul", 1, true) end, 5)
  check("SPIR-V: definition", vim.api.nvim_get_current_line():find("OpFMul", 1, true), vim.api.nvim_get_current_line())
  vim.cmd("bwipeout!")
end

local function sass(folder)
  local file = open(folder .. "/axpy.sass", "sass")
  file.settled()
  local found = messages()
  local action = ask("textDocument/codeAction", { range = everything(), context = { diagnostics = {} } })[1]
  vim.lsp.util.apply_workspace_edit(action.edit, file.client.offset_encoding)
  file.settled()
  check("SASS: a code action (" .. action.title .. ")", vim.fn.search("FFMA32I.FTZ", "cw") > 0 and #found > #messages(), { found, messages() })
  vim.cmd("bwipeout!")
end

local ok, problem = pcall(function()
  local folder = vim.env.FOLDER
  ptx(folder)
  spirv(folder)
  sass(folder)
end)
if not ok then
  say("FAIL", tostring(problem))
end
local version = vim.version()
say(("Neovim %d.%d.%d: %s"):format(version.major, version.minor, version.patch, (ok and failures == 0) and "all as expected" or "not as expected"))
vim.cmd((ok and failures == 0) and "qall!" or "cquit!")
