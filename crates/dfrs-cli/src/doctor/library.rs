//! The plugin's file: for which Slurm it was built.

use object::{Object, ObjectSymbol};

/// The release whose slurmctld takes this library, as `24.11.5`: Slurm compares the number `plugin_version`
/// in it with its own, to the last digit.
///
/// # Errors
///
/// What is wrong with the file.
pub fn release(file: &[u8]) -> Result<String, String> {
    let object = object::File::parse(file).map_err(|error| format!("is no library: {error}"))?;
    let number = number(&object).ok_or("is no plugin of Slurm's: it has no plugin_version")?;
    let (major, minor, micro) = (number >> 16 & 0xff, number >> 8 & 0xff, number & 0xff);
    Ok(format!("{major}.{minor:02}.{micro}"))
}

fn number(object: &object::File) -> Option<u32> {
    use object::ObjectSection;
    let mut symbols = object.dynamic_symbols();
    let symbol = symbols.find(|symbol| symbol.name() == Ok("plugin_version"))?;
    let section = object.section_by_index(symbol.section_index()?).ok()?;
    let bytes = section.data_range(symbol.address(), 4).ok()??;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}
